/* errors.c -- stiction.Error: refusals of the library, with its messages. */
#include "module.h"

#include <string.h>

static const char error_doc[] =
    "An error of the library, with its message.\n\n"
    "status: \"argument\", \"memory\", \"format\", \"file\", \"unsupported\", \"numeric\", \"events\" or\n"
    "        \"cancelled\"\n"
    "line:   line of the scene that was read, from 1; 0: no line";

bool add_error(PyObject *module, State *state)
{
    PyObject *members = Py_BuildValue("{s:s,s:i}", "status", "", "line", 0);
    if (members == NULL) return false;
    state->error = PyErr_NewExceptionWithDoc("stiction.Error", error_doc, NULL, members);
    Py_DECREF(members);
    return state->error != NULL && PyModule_AddObjectRef(module, "Error", state->error) == 0;
}

static bool set_members(PyObject *error, st_Status status, int line)
{
    PyObject *word = PyUnicode_FromString(st_status_name(status)), *number = PyLong_FromLong(line);
    bool ok = word != NULL && number != NULL && PyObject_SetAttrString(error, "status", word) == 0 &&
              PyObject_SetAttrString(error, "line", number) == 0;
    Py_XDECREF(word);
    Py_XDECREF(number);
    return ok;
}

void *raise_error(const State *state, st_Status status, const st_Error *err)
{
    const char *message = err != NULL && err->message[0] != '\0' ? err->message : st_status_name(status);
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace"); /* paths may be anything */
    PyObject *error = text != NULL ? PyObject_CallFunctionObjArgs(state->error, text, NULL) : NULL;
    if (error != NULL && set_members(error, status, err != NULL ? err->line : 0)) PyErr_SetObject(state->error, error);
    Py_XDECREF(error);
    Py_XDECREF(text);
    return NULL;
}

/* The end of a message about an unknown word; NULL: an exception is set. */
static PyObject *nearest_text(PyObject *word, PyObject *names)
{
    PyObject *list = PySequence_List(names), *difflib = PyImport_ImportModule("difflib"), *near = NULL, *text = NULL;
    if (list != NULL && difflib != NULL) near = PyObject_CallMethod(difflib, "get_close_matches", "OOi", word, list, 1);
    const Py_ssize_t n = list != NULL ? PyList_Size(list) : 0;
    if (near != NULL && PyList_Size(near) > 0) {
        text = PyUnicode_FromFormat("; did you mean %R?", PyList_GetItem(near, 0));
    } else if (near != NULL && n > 0) {
        PyObject *first = PyList_GetSlice(list, 0, 8);
        if (first != NULL) text = PyUnicode_FromFormat(n > 8 ? "; there are %R and others" : "; there are %R", first);
        Py_XDECREF(first);
    } else if (near != NULL) {
        text = PyUnicode_FromString("; there are none");
    }
    Py_XDECREF(near);
    Py_XDECREF(difflib);
    Py_XDECREF(list);
    return text;
}

void raise_unknown(PyObject *exception, const char *kind, PyObject *word, PyObject *names)
{
    PyObject *text = nearest_text(word, names);
    if (text != NULL) PyErr_Format(exception, "there is no %s %R%U", kind, word, text);
    Py_XDECREF(text);
}
