/* math/tsan.h -- ThreadSanitizer checks accesses of up to 16 bytes; these macros report wider ones to it. In other
 * builds they do nothing. */
#ifndef STI_TOLD_H
#define STI_TOLD_H

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define STI_TOLD
void __tsan_read_range(const void *address, unsigned long size);
void __tsan_write_range(void *address, unsigned long size);
#endif
#endif

#ifdef STI_TOLD
#define STI_TOLD_READ(address, size)  __tsan_read_range((address), (size))
#define STI_TOLD_WRITE(address, size) __tsan_write_range((address), (size))
#else
#define STI_TOLD_READ(address, size)  ((void)0)
#define STI_TOLD_WRITE(address, size) ((void)0)
#endif

#endif
