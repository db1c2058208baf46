/* stiction manual: the manual page, and bash's completion, from the tables that --help and the parser read. */
#include "command.h"

#include <stiction/stiction.h>
#include <string.h>

typedef struct ManualOptions {
    bool bash;
} ManualOptions;

static const Option options[] = {
    {"bash", 0, OPTION_FLAG, NULL, "print the completion of commands, options and examples for bash",
     offsetof(ManualOptions, bash)},
};

static int manual_main(int argc, char *const *argv);

const Command manual_command = {
    .name = "manual",
    .words = "",
    .summary = "print the manual page of all this, for man",
    .details = "make install puts both where man and bash look for them. Without that: stiction manual | man -l -; "
               "source <(stiction manual --bash).",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = manual_main,
};

/* Text for roff: its own characters escaped, hyphens that can be copied, no line that begins with a request. */
static void put_roff(const char *text)
{
    bool at_start = true;
    for (const char *c = text; *c != '\0'; c++) {
        if (at_start && (*c == '.' || *c == '\'')) fputs("\\&", stdout);
        if (*c == '\\')
            fputs("\\e", stdout);
        else if (*c == '-')
            fputs("\\-", stdout);
        else
            putchar(*c);
        at_start = *c == '\n';
    }
}

static void put_option(const Option *option)
{
    fputs(".TP\n\\fB", stdout);
    if (option->letter != 0) printf("\\-%c\\fR, \\fB", option->letter);
    fputs("\\-\\-", stdout);
    put_roff(option->name);
    fputs("\\fR", stdout);
    if (option->value != NULL) printf(" \\fI%s\\fR", option->value);
    putchar('\n');
    put_roff(option->help);
    putchar('\n');
}

static void put_command(const Command *command)
{
    printf(".SS \"stiction %s%s%s\"\n", command->name, command->words[0] != '\0' ? " " : "", command->words);
    put_roff(command->summary);
    fputs(".\n", stdout);
    if (command->details != NULL) {
        fputs(".PP\n", stdout);
        put_roff(command->details);
        putchar('\n');
    }
    for (int k = 0; k < command->n_options; k++)
        put_option(&command->options[k]);
}

static void put_page(void)
{
    printf(".TH STICTION 1 \"\" \"stiction %s\"\n", st_version());
    puts(".SH NAME\nstiction \\- rigid bodies with contact, friction, impacts, joints and stiff forces\n"
         ".SH SYNOPSIS\n.B stiction\n.I COMMAND\n[\\fIoptions\\fR]\n"
         ".SH DESCRIPTION\nRuns scenes, which are JSON files, robots (URDF, MJCF) or examples by their name; looks at "
         "what was\n"
         "recorded; solves contact problems from files. \\fBstiction examples\\fR lists scenes to begin with.\n"
         ".SH COMMANDS");
    for (int k = 0; commands[k] != NULL; k++)
        put_command(commands[k]);
    puts(".SH ENVIRONMENT\n.TP\n.B STICTION_EXAMPLES\nthe folder of the examples, where it is not the installed one\n"
         ".TP\n.B STICTION_BROWSER\nthe browser that render and plot draw with");
}

static void put_options(const Command *command)
{
    for (int k = 0; k < command->n_options; k++)
        printf(" --%s", command->options[k].name);
    fputs(" --help", stdout);
}

static void put_completion(void)
{
    puts("_stiction() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} known\n"
         "    case $COMP_CWORD:${COMP_WORDS[1]} in");
    fputs("    1:*) known='", stdout);
    for (int k = 0; commands[k] != NULL; k++)
        printf("%s ", commands[k]->name);
    puts("help --help --version' ;;");
    for (int k = 0; commands[k] != NULL; k++) {
        const bool scene = strstr(commands[k]->words, "SCENE") != NULL || commands[k] == &examples_command;
        printf("    *:%s) known='", commands[k]->name);
        put_options(commands[k]);
        fputc('\'', stdout);
        if (scene) fputs("; [[ $word == -* ]] || known=$(stiction examples --names)", stdout);
        puts(" ;;");
    }
    puts("    esac\n"
         "    if [[ $word != -* && $COMP_CWORD -gt 1 ]]; then\n"
         "        COMPREPLY=($(compgen -W \"$known\" -- \"$word\") $(compgen -f -- \"$word\"))\n"
         "    else\n"
         "        COMPREPLY=($(compgen -W \"$known\" -- \"$word\"))\n"
         "    fi\n"
         "}\n"
         "complete -o filenames -F _stiction stiction");
}

static int manual_main(int argc, char *const *argv)
{
    ManualOptions o = {0};
    const char *words[MAX_WORDS];
    const int status = command_read(&manual_command, argc, argv, &o, words);
    if (status >= 0) return status;
    if (o.bash)
        put_completion();
    else
        put_page();
    return STATUS_OK;
}
