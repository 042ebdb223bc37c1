"""Files of PyTorch's own: one that PyTorch 2.13 wrote, and made ones that try what a pickle can do.

`FILE` is what torch.save wrote of the object that `test_a_file_of_pytorch` describes.
"""

import base64
import contextlib
import io
import pickle
import pickletools
import zipfile
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

import retrograd as torch
from retrograd.serialization import weights as reader

FILE = zipfile.ZipFile(io.BytesIO(base64.b85decode("""
P)h>@6aWAK2mk;8ApoTcd^Ldr000LB000mG003cfV`yo1WiMo5bYU)VYixB>X>-#s6tt5zCFZ{G`${=VZ*Cf(G=NJ>-2&zaMsd{GjALglrKQYdhA#<)
U&~KGhg&E!_=99=_U+rZ@9A5v1Eb{j8-~F+;S{FtCs9Ow9wsrf=F>V&X?;5MxrN-IgS=Z1&{Y~X0**ePC#fF{d2Jp>%<@uNYll(Y<1}VT>aC1g=r5Jr
0Y#pqq(M>8A=XTk5Wc7{EeyD(zzk!Xn-{y^YNKfPaaaqsVdv~z58K6N_ORneAVuut*yUh1>tK&t6aik7a#AOpU~dQeTybMye+LIt<`tSUQ40>*CS$Co
N?i%*D#M{F4wnL<Fen6C!3d57MZ3UpRAw%8am+TmIIgpv;5g~v)J8y%K~FD8iCvtL(6btPj^n(83;#kdO4hur=aOyO`5rE7c!@)-SE$=3G(?mv<LZX9
+R8uHE~iP;<7+Ld+`T5`XNE3mAg=#a&M1aN;vB~fWn>q_Qsc<FN;=9h*1@>S87HFi6DlUgB;&a0;FhwsMN%T%r73Rzr`ekb3wLzEnWE{WU5n^ukMAn_
G29c9Opg0fl2G$NE>qfvGRH#)kM!a3cT78YqWaZ}NEl<LWSf<;)GNNZb;ZX}@jXu};bH7~mY+0R5&dG}X=Un{MpnvtH+p#H;Q7yDb~MVq=O=aQGmFOZ
$AazV#C>fIvueyEB1lK@qK7#L^IP&TDjvkkDi&;$bm2Hy%&HD!J~?h-DLXEPUj^?gS>)?3-Z*fpcw5Cg!tp+{KBoAvWeUep6&@KJAEifz928HCjhO#W
+8PmDbKonD%qI~^QQu<yY!Wv%ji-uq0?XR?h9Dgr)I{P9hYmishkgT4O9KQH000080000X0EIo{83+IX00sa601*HH0AX@tXlZt3FJgIgWp8q1Wpc~O
EGfxJ1prV>0|XQR000O8001EXR1~L+4*&oF5C8xG4gdfEVRB<=X?A5VWMOn+FEC?ZXs~BsU~m8;AZ~B~08mQ<1QY-O00;m803iSukmr#R0000O0000E
0001Ca${&|c4aSQVRT_HF=Jo=fd+dZ;Q&NH+yKN28~{*D0|XQR000O8001EXkWmKJ2mk;82mk;84gdfEVRB<=X?A5VWMOn+FEV3bXs~AhVgOJ}0|XQR
000O8001EX=@a<J2LJ#72mk;84gdfEVRB<=X?A5VWMOn+FEe9c0D%wo08mQ<1QY-O00;m803iSX00002000000000E0001Ca${&|c4aSQVRT_HGy?!o
O9KQH000080000X0E*bH>jeM+00;m801f~E0AX@tXlZt3FJxhKVJ|gfW`F<yP)h>@6aWAK2mk;8App^yXH^6M00062000jF003cfV`yo1WiNJRa&u{K
ZZqZr08mQ-0u%!j000080000X0Hq3iHGu*E00#sB01yBG00000000000Du7i0001Ca${&|c4aSQVRT_GaBFN(O928D0~7!N00;m803iT{J>wY&00006
0000H00000000000001h0j~l80AX@tXlZt3FJgIgWp8q1WpYqU0Rj{Q6aWAK2mk;8Apleqr;85&000mG000gE0000000000004ji<^li!VRB<=X?A5V
WMOn+FECI`0Rj{Q6aWAK2mk;8ApjSU=aCTr000;O000gE0000000000004jiAp-yaVRB<=X?A5VWMOn+FELO{0Rj{Q6aWAK2mk;8Apnq32Gs}v000O8
000gE0000000000004jiUIPFCVRB<=X?A5VWMOn+FEUU|0Rj{Q6aWAK2mk;8Apq$U_{RqT000O8000gE0000000000004jik^=w$VRB<=X?A5VWMOn+
FEda}0Rj{Q6aWAK2mk;8ApigX0006200000000gE0000000000004ji#RC8UVRB<=X?A5VWMOn+FEmg~0Rj{Q6aWAK2mk;8ApnZlt?LB<000O8000gE
0000000000004ji^8)|?VRB<=X?A5VWMOn+FEvn00Rj{Q6aWAK2mk;8App^yXH^6M00062000jF0000000000004jiBm@8eVRB<=X?A5Vc4cyNX>V>&
O9ci10000900{sh0ssJ21ONa400
""".replace("\n", ""))))
MEMBERS = {name: FILE.read(name) for name in FILE.namelist()}


def archive(members: dict[str, bytes]) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
    file.seek(0)
    return file


def loaded(pickled: bytes, **options: Any) -> Any:
    """What comes of a file with this pickle, and one memory of four floats."""
    return torch.load(archive({"archive/data.pkl": pickled, "archive/data/0": bytes(16)}), **options)


def storage(kind: str = "FloatStorage", key: str = "0", count: int = 4) -> bytes:
    """The instructions that put a memory on the stack."""
    return (b"(X\x07\0\0\0storagectorch\n%b\nX%b%bX\x03\0\0\0cpuK%btQ" % (
        kind.encode(), len(key).to_bytes(4, "little"), key.encode(), bytes([count])))


def rebuilt(offset: int, size: int, stride: bytes, memory: bytes = storage()) -> bytes:
    """The instructions of one tensor."""
    return (b"ctorch._utils\n_rebuild_tensor_v2\n(" + memory + b"K%bK%b\x85" % (bytes([offset]), bytes([size])) + stride
            + b"\x85\x89ccollections\nOrderedDict\n)RtR.")


def test_a_file_of_pytorch() -> None:
    file = archive(MEMBERS)
    found = torch.load(file)
    assert file.read() == b""
    assert [*found] == ["state", "views", "leaf", "parameter", "plain", "none", "scalar"]
    state = found["state"]
    assert type(state) is OrderedDict
    assert state["weight"].tolist() == [[1, 2], [3, 4]]
    assert state._metadata == {"": {"version": 1}}
    whole, part, across = found["views"]
    part.zero_()
    assert whole.tolist() == [0, 1, 0, 0, 4, 5]
    assert across.tolist() == [[0, 0], [1, 4], [0, 5]]
    assert across.stride() == (1, 3)
    assert whole._version == 1
    assert found["leaf"].requires_grad
    assert found["leaf"].note == "n"
    parameter = found["parameter"]
    assert type(parameter) is torch.nn.Parameter
    assert not parameter.requires_grad
    assert parameter.dtype is torch.float64
    assert found["plain"] == (1, 2.5, None, True, "s", 1 + 2j, 2**70, b"by", {1}, torch.int64, torch.Size([1]), [[]])
    assert found["plain"][9] is torch.int64
    assert type(found["plain"][10]) is torch.Size
    assert found["none"].shape == (0, 3)
    assert found["scalar"].shape == ()
    assert torch.load(archive(MEMBERS), map_location=lambda memory, place: memory)["scalar"].item() == 3


def test_made_files_are_read() -> None:
    assert loaded(b"\x80\x02" + rebuilt(1, 3, b"K\x01")).tolist() == [0, 0, 0]
    assert loaded(rebuilt(3, 5, b"K\x00")).stride() == (0,)
    assert loaded(pickle.dumps({"a": [1, (2, 3)]}, 5)) == {"a": [1, (2, 3)]}


class Trap:
    """Says so when it is unpickled."""

    def __init__(self, how: str) -> None:
        self.how = how

    def __reduce__(self) -> Any:
        if self.how == "state":
            return OrderedDict, (), {"a": Trap("call")}
        return pytest.fail, ("the file was run",)


@pytest.mark.parametrize("pickled", [
    pickle.dumps(Trap("call")), pickle.dumps([Trap("call")], 5), pickle.dumps(Trap("state")),
    b"cos\nsystem\n(X\x04\0\0\0exittR.", b"cbuiltins\neval\n.", b"}X\x01\0\0\0acos\nsystem\ns.",
    b"ctorch._utils\n_rebuild_tensor_v2\n.", b"ctorch\nload\n(X\x01\0\0\0atR.",
    pickle.dumps(torch.nn.Linear(1, 1)),
    b"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_tensor_v2\ncmine\nTensor\n)}tR."])
def test_no_name_is_looked_up(pickled: bytes) -> None:
    with pytest.raises(pickle.UnpicklingError, match="(?s)Weights only load failed.*Unsupported global: GLOBAL "):
        loaded(pickled)


@pytest.mark.parametrize("pickled", [
    rebuilt(2, 3, b"K\x01"), rebuilt(0, 3, b"K\x02"), rebuilt(0, 2, b"J\xff\xff\xff\xff"),
    rebuilt(0, 1, b"K\x01", storage(count=5)), rebuilt(0, 1, b"K\x01", storage(key="1")),
    b"}", b"(.", b"t.", b"", b"ccollections\nOrderedDict\n)R(t\x85b.",
    b"cbuiltins\nbytearray\n(J\xff\xff\xff\x7ftR."])
def test_damage_is_found(pickled: bytes) -> None:
    with pytest.raises(RuntimeError, match="The file is damaged"):
        loaded(pickled)


def test_types_and_instructions_that_there_are_not() -> None:
    with pytest.raises(pickle.UnpicklingError, match="There is no dtype here for elements of QInt8Storage"):
        loaded(rebuilt(0, 2, b"K\x01", storage("QInt8Storage")))
    with pytest.raises(pickle.UnpicklingError, match="Unsupported operand: INST"):
        loaded(b"(ios\nsystem\n.")
    with pytest.raises(pickle.UnpicklingError, match="Can only build Tensor, Parameter, OrderedDict or types allow"):
        loaded(b"}K\x01b.")
    with pytest.raises(ValueError, match="Unknown endianness type: odd"):
        torch.load(archive({**MEMBERS, "archive/byteorder": b"odd"}))


KINDS = [torch.arange(4.), torch.arange(3.).double(), torch.ones(2) * 1j, torch.tensor([True]), torch.arange(3).short()]


@pytest.mark.parametrize("tensor", KINDS)
def test_files_of_machines_with_another_order_of_bytes(tensor: torch.Tensor) -> None:
    file = io.BytesIO()
    torch.save(tensor, file)
    with zipfile.ZipFile(file) as written:
        members = {name: written.read(name) for name in written.namelist()}
    numbers = tensor.numpy()
    members["archive/data/0"] = numbers.astype(numbers.dtype.newbyteorder(">")).tobytes()
    members["archive/byteorder"] = b"big"
    files = torch.serialization
    assert torch.load(archive(members)).tolist() == tensor.tolist()
    del members["archive/byteorder"]                        # as in files of early versions
    files.set_default_load_endianness(files.LoadEndianness.BIG)
    try:
        assert torch.load(archive(members)).tolist() == tensor.tolist()
    finally:
        files.set_default_load_endianness(None)
    assert tensor.dtype is torch.bool or torch.load(archive(members)).tolist() != tensor.tolist()


@pytest.mark.filterwarnings("ignore:.*invalid escape sequence:DeprecationWarning")       # of Python's own reader
@given(st.integers(0, len(MEMBERS["archive/data.pkl"]) - 1), st.binary(min_size=1, max_size=3))
@example(at=479, put=b"\x00K")                              # a number in place of the name of a device
def test_a_pickle_that_was_changed_gives_an_object_or_an_error(at: int, put: bytes) -> None:
    pickled = MEMBERS["archive/data.pkl"]
    changed = archive({**MEMBERS, "archive/data.pkl": pickled[:at] + put + pickled[at + len(put):]})
    with contextlib.suppress(RuntimeError, pickle.UnpicklingError):
        torch.load(changed)


def test_every_instruction_has_one_meaning() -> None:
    known = {opcode.name for opcode in pickletools.opcodes}
    steps = {name[3:].upper() for name in vars(reader._Machine) if name.startswith("do_")}
    assert steps | {*reader._CONSTANTS} | reader._LITERALS <= known
    assert not steps & ({*reader._CONSTANTS} | reader._LITERALS)
