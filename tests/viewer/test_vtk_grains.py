"""Grains of an export, read by VTK: every sphere is a point at its position in the table and the scene, with its
radius; a frame takes less than 150 bytes per grain; the walls are one file; loads are those of the contacts."""
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
form = read("clump_1.vtp").GetBounds()  # two balls whose centres are a radius apart, in a ball of three radii
r = 0.005 * 2 / 3
assert max(abs(a - b) for a, b in zip(form, (-1.5 * r, 1.5 * r, -r, r, -r, r))) < 1e-8, form
for ball_file, clump_file, contact_file, row in zip(files("grains"), files("clumps"), files("contacts"), table):
    bytes_each = sum(os.path.getsize(f"{folder}/vtk/{file}") for file in (ball_file, clump_file)) / len(names)
    assert bytes_each < 150, bytes_each
    contacts = read(contact_file)
    force, load = contacts.GetPointData().GetArray("force"), [0.0] * (len(names) + 1)
    ends = [contacts.GetPointData().GetArray(name) for name in "ab"]
    for k in range(contacts.GetNumberOfPoints()):
        for end in ends:
            load[end.GetValue(k)] += math.hypot(*force.GetTuple(k))
    for file, first, count, size in ((ball_file, 1, 150, "radius"), (clump_file, 151, 50, "scale")):
        frame = read(file)
        assert frame.GetNumberOfPoints() == count
        data = {name: frame.GetPointData().GetArray(name)
                for name in (size, "body", "orientation", "velocity", "spin", "contacts", "load")}
        for k in range(count):
            body = data["body"].GetValue(k)
            assert body == first + k
            name = names[body - 1]
            centre = [float(row[f"{name}.{axis}"]) for axis in "xyz"]
            turned = [float(row[f"{name}.q{axis}"]) for axis in "wxyz"]
            assert max(abs(a - b) for a, b in zip(data["orientation"].GetTuple(k), turned)) < 1e-6
            assert 0.004 <= data[size].GetValue(k) <= 0.006 if size == "radius" else data[size].GetValue(k) == 1
            assert max(abs(a - b) for a, b in zip(frame.GetPoint(k), centre)) < 1e-7, (k, frame.GetPoint(k), centre)
            assert abs(data["velocity"].GetTuple(k)[2] - float(row[f"{name}.vz"])) < 1e-6
            assert abs(data["load"].GetValue(k) - load[body]) < 1e-5 * max(1, load[body])
print(f"vtk: {len(table)} frames of 150 spheres and 50 clumps, {bytes_each:.1f} bytes each")
