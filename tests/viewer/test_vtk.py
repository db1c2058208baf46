"""The files of an export, read by VTK: as many frames as were recorded, bodies where the table has them, and contact
forces that carry the weight of the bars when they lie still."""
import csv
import sys
import xml.etree.ElementTree as xml

import vtk

folder = sys.argv[1]
table = list(csv.DictReader(open(f"{folder}/frames.csv")))


def read(name):
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(f"{folder}/vtk/{name}")
    reader.Update()
    assert reader.GetErrorCode() == 0, name
    return reader.GetOutput()


def series(name):
    sets = xml.parse(f"{folder}/vtk/{name}.pvd").getroot().find("Collection").findall("DataSet")
    assert len(sets) == len(table), (name, len(sets), len(table))
    for entry, row in zip(sets, table):
        assert abs(float(entry.get("timestep")) - float(row["t"])) < 1e-12
    return [read(entry.get("file")) for entry in sets]


bodies, contacts, network = series("bodies"), series("contacts"), series("network")
for frame, row in zip(bodies, table):
    owner = frame.GetCellData().GetArray("body")
    for number in (1, 2):  # a bar is a thin box about its centre: the mean of its corners is the body's position
        corners = set()
        for c in range(frame.GetNumberOfCells()):
            if owner.GetValue(c) == number:
                corners.update(frame.GetCell(c).GetPointId(k) for k in range(3))
        assert len(corners) == 8
        mean = [sum(frame.GetPoint(p)[k] for p in corners) / 8 for k in range(3)]
        for k, axis in enumerate("xyz"):
            assert abs(mean[k] - float(row[f"bar{number}.{axis}"])) < 1e-6, (row["t"], number, axis)  # floats of size 1

last = contacts[-1]
force = last.GetPointData().GetArray("force")
total = sum(force.GetTuple(k)[1] for k in range(last.GetNumberOfPoints()))
assert last.GetNumberOfVerts() == 2 and abs(total - 2 * 9.81) < 1e-3, total  # two bars of 1 kg, at rest
assert network[-1].GetNumberOfLines() == 2
print(f"vtk: {len(bodies)} frames read, the table carries {total:.6f} N of {2 * 9.81} N")
