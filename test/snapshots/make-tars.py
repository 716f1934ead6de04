"""Writes hostile and odd archives into the folder given as the first word, each as a snapshot: archive, sums, counts."""
import gzip, hashlib, io, json, os, sys, tarfile
out = sys.argv[1]

def entry(t, name, kind=tarfile.REGTYPE, link="", data=b"canary", mode=0o644, uid=1000, dev=(1, 5), pax={}):
    i = tarfile.TarInfo(name)
    i.type, i.linkname, i.mode, i.uid, i.gid, i.pax_headers = kind, link, mode, uid, uid, pax
    i.devmajor, i.devminor = dev
    if kind == tarfile.REGTYPE:
        i.size = len(data)
        t.addfile(i, io.BytesIO(data))
    else:
        t.addfile(i)

S, L, C, F, D = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE
SPARSE = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "6"}
ARCHIVES = {
    "absolute":         [("/srv/elsewhere/abs",)],
    "dotdot":           [("../up",)],
    "dotdot-deep":      [("a/b/../../../up",)],
    "link-out":         [("l", S, "../outside")],
    "link-out-abs":     [("l", S, "/etc/hostname")],
    "link-out-by-link": [("p/q", S, ".."), ("l", S, "p/q/../outside")],
    "write-through":    [("d", S, "../outside"), ("d/f",)],
    "write-through-in": [("x", D), ("d", S, "x"), ("d/f",)],
    "hardlink-out":     [("h", L, "../outside/secret")],
    "hardlink-abs":     [("h", L, "/etc/hostname")],
    "hardlink-link":    [("s", S, "../outside/secret"), ("h", L, "s")],
    "hardlink-nothing": [("h", L, "later"), ("later",)],
    "hardlink-moves":   [("a/b/s", S, "../../x"), ("h", L, "a/b/s")],
    "device":           [("dev", C)],
    "block-device":     [("dev", tarfile.BLKTYPE)],
    "fifo":             [("pipe", F)],
    "contiguous":       [("c", tarfile.CONTTYPE)],
    "setuid":           [("su", tarfile.REGTYPE, "", b"x", 0o4755, 0)],
    "setgid-folder":    [("sg", D, "", b"", 0o2755, 0)],
    "foreign-owner":    [("mine", tarfile.REGTYPE, "", b"x", 0o644, 54321)],
    "twice":            [("same", tarfile.REGTYPE, "", b"one"), ("same", S, "/etc/hostname")],
    "twice-by-words":   [("a/same", tarfile.REGTYPE, "", b"one"), ("a/./same", tarfile.REGTYPE, "", b"two")],
    "below-a-file":     [("f",), ("f/g",)],
    "name-of-a-folder": [("f", D), ("f",)],
    "newline-name":     [("a\nb",)],
    "sparse-name-out":  [("fine", tarfile.REGTYPE, "", b"0\n" + b"\0" * 510, 0o644, 0, (0, 0), {**SPARSE, "GNU.sparse.name": "../up"})],
    "sparse-old":       [("s", tarfile.REGTYPE, "", b"canary", 0o644, 0, (0, 0), {"GNU.sparse.map": "0,6", "GNU.sparse.size": "6"})],
    "acl":              [("a", tarfile.REGTYPE, "", b"x", 0o644, 0, (0, 0), {"SCHILY.acl.access": "user::rwx"})],
    "capability":       [("a", tarfile.REGTYPE, "", b"x", 0o644, 0, (0, 0), {"SCHILY.xattr.security.capability": "x"})],
    "good":             [("dir/file",), ("dir/inner-link", S, "file")],
}

def place(name):
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, "archive.tar.gz")

def finish(name, members):
    """Sums and counts as an honest manifest would have them."""
    folder = os.path.join(out, name)
    files = [(m[0], (m[3] if len(m) > 3 else b"canary")) for m in members if len(m) < 2 or m[1] == tarfile.REGTYPE]
    with open(os.path.join(folder, "files.jsonl"), "w") as sums:
        for path, data in files:
            line = {"path": path, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            sums.write(json.dumps(line, separators=(",", ":")) + "\n")
    counts = {"file_count": len([m for m in members if len(m) < 2 or m[1] != D]), "unpacked_bytes": sum(len(d) for _, d in files)}
    with open(os.path.join(folder, "counts.json"), "w") as f:
        json.dump(counts, f)

for name, members in ARCHIVES.items():
    with tarfile.open(place(name), "w:gz", format=tarfile.PAX_FORMAT) as t:
        for m in members:
            entry(t, *m)
    finish(name, members)

# A hard link "with data": some programs take the data for the next headers, others skip it.
inner = io.BytesIO()
with tarfile.open(fileobj=inner, mode="w", format=tarfile.PAX_FORMAT) as t:
    entry(t, "../smuggled")
hidden = inner.getvalue()[:1024]
first = io.BytesIO()
with tarfile.open(fileobj=first, mode="w", format=tarfile.PAX_FORMAT) as t:
    entry(t, "f", data=b"x")
link = tarfile.TarInfo("h")
link.type, link.linkname, link.size, link.mode = L, "f", len(hidden), 0o644
with gzip.open(place("smuggled"), "wb") as g:
    g.write(first.getvalue()[:1024] + link.tobuf(tarfile.PAX_FORMAT) + hidden + b"\0" * 1024)
finish("smuggled", [("f", tarfile.REGTYPE, "", b"x"), ("h", L, "f")])

with tarfile.open(place("gnu-format"), "w:gz", format=tarfile.GNU_FORMAT) as t:
    entry(t, "f")
finish("gnu-format", [("f",)])

with tarfile.open(place("global-header"), "w:gz", format=tarfile.PAX_FORMAT, pax_headers={"path": "../up"}) as t:
    entry(t, "f")
finish("global-header", [("f",)])

with open(os.path.join(out, "good", "archive.tar.gz"), "rb") as f:
    good = f.read()
raw = gzip.decompress(good)
with gzip.open(place("goes-on"), "wb") as g:
    g.write(raw + raw)
with gzip.open(place("no-end"), "wb") as g:
    g.write(raw[:2048])
open(place("cut-short"), "wb").write(good[: len(good) // 2])
open(place("empty"), "wb").close()
open(place("no-gzip"), "wb").write(raw)
for name in ("goes-on", "no-end", "cut-short", "empty", "no-gzip"):
    finish(name, ARCHIVES["good"])

if "--without-bomb" not in sys.argv:
    with tarfile.open(place("bomb"), "w:gz") as t:      # 2 GB of zeros, about 2 MB here
        i = tarfile.TarInfo("zeros"); i.size = 2 * 1024**3
        class Z(io.RawIOBase):
            def read(self, n=-1): return b"\0" * (n if n > 0 else 65536)
        t.addfile(i, Z())
    finish("bomb", [])
