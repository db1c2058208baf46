/* stiction manual: writes the manual page, and completions for bash, zsh and fish, from the tables of --help and the
 * parser. */
#include "command.h"

#include <stiction/stiction.h>
#include <string.h>

typedef struct ManualOptions {
    bool bash, zsh, fish;
} ManualOptions;

static const Option options[] = {
    {"bash", 0, OPTION_FLAG, NULL, "print completions of commands, options and examples for bash",
     offsetof(ManualOptions, bash)},
    {"zsh", 0, OPTION_FLAG, NULL, "the same for zsh", offsetof(ManualOptions, zsh)},
    {"fish", 0, OPTION_FLAG, NULL, "the same for fish", offsetof(ManualOptions, fish)},
};

static int manual_main(int argc, char *const *argv);

const Command manual_command = {
    .name = "manual",
    .words = "",
    .summary = "print the manual page, or completions for a shell",
    .details =
        "make install puts them into the folders that man and the shells search. Without an installation: stiction "
        "manual | man -l -; source <(stiction manual --bash); stiction manual --fish | source.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = manual_main,
};

/* Text for roff: special characters are escaped, hyphens can be copied, no line begins with a request. */
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
         ".SH DESCRIPTION\nRuns scenes, which are JSON files, robots (URDF, MJCF, SDF) or examples by name. Shows\n"
         "recordings of runs. Solves contact problems from files. \\fBstiction examples\\fR lists scenes to begin "
         "with.\n"
         ".SH COMMANDS");
    for (int k = 0; commands[k] != NULL; k++)
        put_command(commands[k]);
    puts(".SH ENVIRONMENT\n.TP\n.B STICTION_EXAMPLES\nthe folder of the examples, in place of the installed one\n"
         ".TP\n.B STICTION_BROWSER\nthe browser that render and plot draw with");
}

static void put_options(const Command *command)
{
    for (int k = 0; k < command->n_options; k++)
        printf(" --%s", command->options[k].name);
    fputs(" --help", stdout);
}

static bool takes_scene(const Command *command)
{
    return strstr(command->words, "SCENE") != NULL || command == &examples_command;
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
        printf("    *:%s) known='", commands[k]->name);
        put_options(commands[k]);
        fputc('\'', stdout);
        if (takes_scene(commands[k])) fputs("; [[ $word == -* ]] || known=$(stiction examples --names)", stdout);
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

/* The first sentence of a help text, without special characters of shells. */
static void put_hint(const char *text)
{
    const size_t n = strcspn(text, ":;\n");
    for (size_t k = 0; k < n; k++)
        if (strchr("'[]\\", text[k]) == NULL) putchar(text[k]);
}

static void put_zsh(void)
{
    puts("#compdef stiction\n"
         "_stiction_scenes() {\n"
         "    local -a scenes\n"
         "    scenes=(${(f)\"$(stiction examples --names 2>/dev/null)\"})\n"
         "    _alternative 'examples:example:compadd -a scenes' 'files:file:_files'\n"
         "}\n"
         "_stiction() {\n"
         "    local -a commands\n"
         "    commands=(");
    for (int k = 0; commands[k] != NULL; k++) {
        printf("        '%s:", commands[k]->name);
        put_hint(commands[k]->summary);
        puts("'");
    }
    puts("    )\n"
         "    if (( CURRENT == 2 )); then\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi\n"
         "    local command=$words[2]\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $command in");
    for (int k = 0; commands[k] != NULL; k++) {
        printf("    %s) _arguments", commands[k]->name);
        for (int i = 0; i < commands[k]->n_options; i++) {
            const Option *option = &commands[k]->options[i];
            printf(" \\\n        '%s--%s[", option->kind == OPTION_LIST ? "*" : "", option->name);
            put_hint(option->help);
            printf("]%s%s'", option->value != NULL ? ":value:" : "", option->value != NULL ? "_files" : "");
        }
        printf(" \\\n        '--help[this text]' '*:word:%s' ;;\n",
               takes_scene(commands[k]) ? "_stiction_scenes" : "_files");
    }
    puts("    esac\n"
         "}\n"
         "if [[ $funcstack[1] = _stiction ]]; then\n"
         "    _stiction \"$@\"\n"
         "else\n"
         "    compdef _stiction stiction\n"
         "fi");
}

static void put_fish(void)
{
    puts("complete -c stiction -n __fish_use_subcommand -f");
    for (int k = 0; commands[k] != NULL; k++) {
        printf("complete -c stiction -n __fish_use_subcommand -a %s -d '", commands[k]->name);
        put_hint(commands[k]->summary);
        puts("'");
    }
    for (int k = 0; commands[k] != NULL; k++) {
        for (int i = 0; i < commands[k]->n_options; i++) {
            const Option *option = &commands[k]->options[i];
            printf("complete -c stiction -n '__fish_seen_subcommand_from %s' -l %s", commands[k]->name, option->name);
            if (option->letter != 0) printf(" -s %c", option->letter);
            printf("%s -d '", option->value != NULL ? " -r" : "");
            put_hint(option->help);
            puts("'");
        }
        if (takes_scene(commands[k]))
            printf("complete -c stiction -n '__fish_seen_subcommand_from %s' -a '(stiction examples --names)'\n",
                   commands[k]->name);
    }
}

static int manual_main(int argc, char *const *argv)
{
    ManualOptions o = {0};
    const char *words[MAX_WORDS];
    const int status = command_read(&manual_command, argc, argv, &o, words);
    if (status >= 0) return status;
    if (o.bash + o.zsh + o.fish > 1)
        return complain(STATUS_INPUT, "manual: choose only one of --bash, --zsh and --fish");
    if (o.bash)
        put_completion();
    else if (o.zsh)
        put_zsh();
    else if (o.fish)
        put_fish();
    else
        put_page();
    return STATUS_OK;
}
