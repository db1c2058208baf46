/* settings.c -- the settings of a simulation by the names that scene files use. The library's table of them is all that
 * is known here: a new setting is there in Python without a change.
 */
#include "module.h"

#include <string.h>

/* ---- Python to C ------------------------------------------------------------------------------------ */

static bool read_value(const st_Setting *setting, PyObject *value, st_SettingValue *out)
{
    *out = (st_SettingValue){0};
    switch (setting->kind) {
    case ST_SETTING_CHOICE:
        out->word = text_of(value, setting->key);
        return out->word != NULL;
    case ST_SETTING_BOOLEAN:
        if (!PyBool_Check(value)) {
            PyErr_Format(PyExc_TypeError, "%s must be a bool, not %R", setting->key, Py_TYPE(value));
            return false;
        }
        out->number = value == Py_True;
        return true;
    case ST_SETTING_VECTOR:
        return read_vec3(value, setting->key, &out->vector);
    case ST_SETTING_NUMBER:
    case ST_SETTING_INTEGER:
    default:
        if (value == Py_None) {
            PyErr_Format(PyExc_TypeError, "%s must be a number, not None", setting->key);
            return false;
        }
        return read_optional(value, setting->key, &out->number);
    }
}

static bool unknown_setting(const char *key)
{
    PyObject *names = PyList_New(0), *word = PyUnicode_FromString(key);
    bool ok = names != NULL && word != NULL;
    for (int k = 0; ok && k < st_setting_count(); k++) {
        PyObject *name = PyUnicode_FromString(st_setting(k)->key);
        ok = name != NULL && PyList_Append(names, name) == 0;
        Py_XDECREF(name);
    }
    if (ok) raise_unknown(PyExc_TypeError, "setting", word, names);
    Py_XDECREF(names);
    Py_XDECREF(word);
    return false;
}

static bool apply_one(const State *state, const char *key, PyObject *value, st_SystemDef *def)
{
    st_Error err = {0};
    st_SettingValue number;
    const st_Setting *setting = st_setting_find(key);
    if (setting == NULL) return unknown_setting(key);
    if (!read_value(setting, value, &number)) return false;
    st_Status status = st_setting_set(def, key, &number, &err);
    if (status != ST_OK) raise_error(state, status, &err);
    return status == ST_OK;
}

bool settings_apply(const State *state, PyObject *settings, st_SystemDef *def)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    if (settings == NULL) return true;
    PyObject *preset = PyDict_GetItemString(settings, "preset"); /* settings beside it override it */
    if (preset != NULL && !apply_one(state, "preset", preset, def)) return false;
    while (PyDict_Next(settings, &at, &key, &value)) {
        const char *name = text_of(key, "the name of a setting");
        if (name == NULL) return false;
        if (strcmp(name, "preset") != 0 && !apply_one(state, name, value, def)) return false;
    }
    return true;
}

/* ---- C to Python ------------------------------------------------------------------------------------- */

static PyObject *value_object(const st_Setting *setting, const st_SettingValue *value)
{
    switch (setting->kind) {
    case ST_SETTING_CHOICE:
        return PyUnicode_FromString(value->word != NULL ? value->word : "");
    case ST_SETTING_BOOLEAN:
        return PyBool_FromLong(value->number != 0);
    case ST_SETTING_INTEGER:
        return PyLong_FromDouble(value->number);
    case ST_SETTING_VECTOR:
        return vec3_tuple(value->vector);
    case ST_SETTING_NUMBER:
    default:
        return PyFloat_FromDouble(value->number);
    }
}

PyObject *settings_dict(const State *state, const st_SystemDef *def)
{
    PyObject *dict = PyDict_New();
    for (int k = 0; dict != NULL && k < st_setting_count(); k++) {
        const st_Setting *setting = st_setting(k);
        st_SettingValue value;
        st_Error err = {0};
        st_Status status = st_setting_get(def, setting->key, &value, &err);
        if (status != ST_OK) raise_error(state, status, &err);
        PyObject *object = status == ST_OK ? value_object(setting, &value) : NULL;
        if (object == NULL || PyDict_SetItemString(dict, setting->key, object) != 0) Py_CLEAR(dict);
        Py_XDECREF(object);
    }
    return dict;
}

/* A recording stores changes by System(scene, h=...) as overrides of its scene. A preset changes all settings that a
 * scene may have beside it, so then all of them are stored.                                                */
PyObject *settings_sets(const State *state, const st_SystemDef *from, const st_SystemDef *to)
{
    PyObject *before = settings_dict(state, from), *after = settings_dict(state, to), *sets = PyList_New(0);
    PyObject *key, *value;
    Py_ssize_t at = 0;
    bool ok = before != NULL && after != NULL && sets != NULL, all = strcmp(from->preset, to->preset) != 0;
    while (ok && PyDict_Next(after, &at, &key, &value)) {
        int same = PyObject_RichCompareBool(PyDict_GetItem(before, key), value, Py_EQ);
        if (same == 1 && !all) continue;
        PyObject *text = same >= 0 ? json_text(value) : NULL;
        PyObject *set =
            text != NULL ? PyBytes_FromFormat("simulation/%s=%s", text_of(key, "key"), PyBytes_AsString(text)) : NULL;
        ok = set != NULL && PyList_Append(sets, set) == 0;
        Py_XDECREF(set);
        Py_XDECREF(text);
    }
    if (!ok) Py_CLEAR(sets);
    Py_XDECREF(before);
    Py_XDECREF(after);
    return sets;
}

/* ---- the tables --------------------------------------------------------------------------------------- */

static PyObject *words_tuple(const char *const *words)
{
    Py_ssize_t n = 0;
    if (words == NULL) return Py_NewRef(Py_None);
    while (words[n] != NULL)
        n++;
    PyObject *tuple = PyTuple_New(n);
    for (Py_ssize_t k = 0; tuple != NULL && k < n; k++) {
        PyObject *word = PyUnicode_FromString(words[k]);
        if (word == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SetItem(tuple, k, word);
    }
    return tuple;
}

PyObject *settings_table(PyObject *module, PyObject *Py_UNUSED(unused))
{
    static const char *const kinds[] = {[ST_SETTING_CHOICE] = "choice",
                                        [ST_SETTING_NUMBER] = "number",
                                        [ST_SETTING_INTEGER] = "integer",
                                        [ST_SETTING_BOOLEAN] = "boolean",
                                        [ST_SETTING_VECTOR] = "vector"};
    PyObject *list = PyList_New(0);
    for (int k = 0; list != NULL && k < st_setting_count(); k++) {
        const st_Setting *s = st_setting(k);
        const bool ranged = s->kind == ST_SETTING_NUMBER || s->kind == ST_SETTING_INTEGER;
        SettingRow row = {s->key, kinds[s->kind], s->unit, s->help, words_tuple(s->words), NULL};
        if (ranged) row.range = Py_BuildValue("(dd)", s->min, s->max);
        PyObject *entry =
            row.words != NULL && !PyErr_Occurred() ? row_new(state_of_module(module), ROW_SETTING, &row) : NULL;
        if (entry == NULL || PyList_Append(list, entry) != 0) Py_CLEAR(list);
        Py_XDECREF(entry);
        Py_XDECREF(row.words);
        Py_XDECREF(row.range);
    }
    return list;
}

static PyObject *dict_of_texts(int n, const char *(*key)(int), const char *(*value)(int))
{
    PyObject *dict = PyDict_New();
    for (int k = 0; dict != NULL && k < n; k++) {
        PyObject *text = PyUnicode_FromString(value(k));
        if (text == NULL || PyDict_SetItemString(dict, key(k), text) != 0) Py_CLEAR(dict);
        Py_XDECREF(text);
    }
    return dict;
}

static const char *solver_help(int k)
{
    return st_solver_help(st_solver_name(k));
}

PyObject *presets_table(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return dict_of_texts(st_preset_count(), st_preset_name, st_preset_help);
}

PyObject *solvers_table(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return dict_of_texts(st_solver_count(), st_solver_name, solver_help);
}

PyObject *solver_parameters(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    PyObject *table = PyDict_New();
    for (int k = 0; table != NULL && k < st_solver_count(); k++) {
        const st_SolverParameter *p;
        for (int i = 0; table != NULL && (p = st_solver_parameter(st_solver_name(k), i)) != NULL; i++) {
            PyObject *name = PyUnicode_FromFormat("%s.%s", st_solver_name(k), p->name);
            PyObject *row = Py_BuildValue("(ddds)", p->value, p->min, p->max, p->help);
            if (name == NULL || row == NULL || PyDict_SetItem(table, name, row) != 0) Py_CLEAR(table);
            Py_XDECREF(name);
            Py_XDECREF(row);
        }
    }
    return table;
}
