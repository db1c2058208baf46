# The files of the engine beside src/: all of src/ but record/ and draw/, which need HDF5, and these of them and of cli/.
set(ENGINE_SOURCES playground/engine.c src/record/model.c cli/live.c cli/form.c cli/describe.c cli/tally.c)
