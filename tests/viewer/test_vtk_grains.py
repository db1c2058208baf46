"""Grains of an export, read by VTK: every sphere is a point at the place that the table and the scene say, with its
radius; a frame takes less than 150 bytes a grain; the walls are one file; loads are those of the contacts."""
import csv
import math
import os
import sys
import xml.etree.ElementTree as xml

import vtk

folder = sys.argv[1]
table = list(csv.DictReader(open(f"{folder}/frames.csv")))


def files(name):
    return [entry.get("file") for entry in xml.parse(f"{folder}/vtk/{name}.pvd").getroot().iter("DataSet")]


def read(name):
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(f"{folder}/vtk/{name}")
    reader.Update()
    assert reader.GetErrorCode() == 0, name
    return reader.GetOutput()


assert files("walls") == ["walls.vtp"] * len(table)
walls = read("walls.vtp")
assert walls.GetNumberOfPolys() == 2, walls.GetNumberOfPolys()  # the floor: a square
names = [f"ball_{k:04}" for k in range(1, 151)] + [f"twin_{k:04}" for k in range(1, 51)]
for file, contact_file, row in zip(files("grains"), files("contacts"), table):
    frame, contacts = read(file), read(contact_file)
    assert frame.GetNumberOfPoints() == 150 + 2 * 50
    bytes_each = os.path.getsize(f"{folder}/vtk/{file}") / 250
    assert bytes_each < 150, bytes_each
    data = {name: frame.GetPointData().GetArray(name)
            for name in ("radius", "body", "orientation", "velocity", "spin", "contacts", "load")}
    force, load = contacts.GetPointData().GetArray("force"), [0.0] * (len(names) + 1)
    ends = [contacts.GetPointData().GetArray(name) for name in "ab"]
    for k in range(contacts.GetNumberOfPoints()):
        for end in ends:
            load[end.GetValue(k)] += math.hypot(*force.GetTuple(k))
    for k in range(250):
        body = data["body"].GetValue(k)
        assert body == (k + 1 if k < 150 else 151 + (k - 150) // 2)
        name = names[body - 1]
        centre = [float(row[f"{name}.{axis}"]) for axis in "xyz"]
        w, x, y, z = data["orientation"].GetTuple(k)
        assert abs(w * w + x * x + y * y + z * z - 1) < 1e-6
        r = data["radius"].GetValue(k)
        if k < 150:
            assert 0.004 <= r <= 0.006
            expected = centre
        else:  # two balls whose centres are a radius apart, in a ball of three radii
            assert abs(r - 0.005 * 2 / 3) < 1e-8
            along = (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y))
            side = -r / 2 if k % 2 == 0 else r / 2
            expected = [c + side * a for c, a in zip(centre, along)]
        assert max(abs(a - b) for a, b in zip(frame.GetPoint(k), expected)) < 1e-7, (k, frame.GetPoint(k), expected)
        assert abs(data["velocity"].GetTuple(k)[2] - float(row[f"{name}.vz"])) < 1e-6
        assert abs(data["load"].GetValue(k) - load[body]) < 1e-5 * max(1, load[body])
print(f"vtk: {len(table)} frames of 250 spheres, {bytes_each:.1f} bytes each")
