/* stiction/stiction.h -- includes every header of the library. Include <stiction/io.h> too to read and write files. */
#ifndef STICTION_STICTION_H
#define STICTION_STICTION_H

#include <stiction/articulation.h>
#include <stiction/base.h>
#include <stiction/batch.h>
#include <stiction/friction.h>
#include <stiction/grains.h>
#include <stiction/model.h>
#include <stiction/problem.h>
#include <stiction/query.h>
#include <stiction/ranks.h>
#include <stiction/scene.h>
#include <stiction/system.h>

#endif
