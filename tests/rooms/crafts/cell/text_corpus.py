"""What operators type, labelled by hand: three cells whose names are easily confused, and phrases for each.

A line is `text => label`. The label is the exact goals (`weld Pos_1` a routine, `> Home` a move, `+Camera` and
`-Camera` tools, `-` the tool that is held), or `refused` (the grammar will not guess, exit 3), or `unknown` (a name the
cell does not have, exit 2). A `|` before a goal is where a word of order binds: it comes after all before it.
"""

from typing import Any

STANDS = ["Weld_Stand", "Camera_Stand"]


def star(name: str, positions: list[Any], **more: Any) -> dict[str, Any]:
    """A cell where every position is one move from Home; the words matter here, not the ways."""
    names = [place["name"] if isinstance(place, dict) else place for place in positions]
    return {
        "kind": "cell",
        "name": name,
        "positions": [{"name": "Home", "role": "home"}, *positions],
        "moves": [["Home", place] for place in names],
        "state": {"current_position": "Home"},
        **more,
    }


ASSEMBLY = star(
    "assembly",
    [
        *({"name": f"Pos_{number}", "role": "work"} for number in (1, 2, 3)),
        *({"name": f"Station_{number}", "role": "work"} for number in (1, 2)),
        "Inspection_1",
        "Injection_1",
        "Bench_1",
        "Rest",
        "Wait_Pos",
        {"name": "Safe_1", "role": "safe"},
        *({"name": name, "role": "stand"} for name in STANDS),
    ],
    tools=[{"name": "Welder", "stand": "Weld_Stand"}, {"name": "Camera", "stand": "Camera_Stand"}],
    routines=[
        {
            "name": "weld",
            "required_tool": "Welder",
            "supported_at": ["Pos_1", "Pos_2", "Pos_3", "Station_1", "Station_2", "Rest"],
        },
        {
            "name": "look",
            "words": ["inspect", "look at"],
            "required_tool": "Camera",
            "supported_at": ["Station_1", "Station_2", "Pos_1", "Inspection_1"],
        },
        {"name": "inject", "supported_at": ["Injection_1"]},
    ],
)

FIXTURES = star(
    "fixtures",
    [
        "Fixture_A",
        "Fixture_B",
        "Fixture_C",
        "Bench_1",
        "Bench_2",
        "Table",
        "Oven_Front",
        "Oven_Back",
        "Grip_Stand_A",
        "Grip_Stand_B",
        "Driver_Stand",
    ],
    tools=[
        {"name": "Gripper_A", "stand": "Grip_Stand_A"},
        {"name": "Gripper_B", "stand": "Grip_Stand_B"},
        {"name": "Screwdriver", "stand": "Driver_Stand"},
    ],
    routines=[
        {
            "name": "fasten",
            "words": ["screw", "tighten"],
            "required_tool": "Screwdriver",
            "supported_at": ["Fixture_A", "Fixture_B", "Fixture_C"],
        },
        {"name": "load", "required_tool": "Gripper_A", "supported_at": ["Bench_1", "Bench_2"]},
        {"name": "polish", "supported_at": ["Table"]},
    ],
)

GARDEN = star(
    "garden",
    [
        *({"name": f"Safe_Pos_{number}", "role": "safe"} for number in (1, 2, 3)),
        *({"name": f"Pos_{number}", "role": "work"} for number in (1, 2, 3, 4)),
        {"name": "Cleaning_Station", "role": "work"},
        {"name": "Tool_Weld_Position", "role": "stand"},
        {"name": "Tool_Camera_Position", "role": "stand"},
        {"name": "Tool_Camera_2_Position", "role": "stand"},
    ],
    tools=[
        {"name": "Welder", "stand": "Tool_Weld_Position"},
        {"name": "Camera", "stand": "Tool_Camera_Position"},
        {"name": "Camera_2", "stand": "Tool_Camera_2_Position"},
    ],
    routines=[
        {
            "name": "tack_weld",
            "words": ["weld"],
            "required_tool": "Welder",
            "supported_at": ["Pos_1", "Pos_2", "Pos_3"],
        },
        {"name": "spot_weld", "required_tool": "Welder", "supported_at": ["Pos_2", "Pos_3"]},
        {"name": "inspect_seam", "words": ["inspect"], "required_tool": "Camera", "supported_at": ["Pos_1", "Pos_2"]},
        {"name": "clean_tip", "words": ["clean"], "supported_at": ["Cleaning_Station"]},
    ],
)

IN_ASSEMBLY = """
inspect the first station => look Station_1
inspect the second station => look Station_2
inspect station 1 => look Station_1
inspect station one => look Station_1
inspect Station_2 => look Station_2
inspect station2 => look Station_2
inspect STATION 2 => look Station_2
inspect stations 1 and 2 => look Station_1; look Station_2
inspect station 1 and 2 => look Station_1; look Station_2
inspect station 1 and station 2 => look Station_1; look Station_2
inspect the first and second station => look Station_1; look Station_2
inspect both stations => look Station_1; look Station_2
inspect all stations => look Station_1; look Station_2
inspect every station => look Station_1; look Station_2
weld both stations => weld Station_1; weld Station_2
weld at both stations, then go home => weld Station_1; weld Station_2; | > Home
weld all 2 stations => weld Station_1; weld Station_2
weld all three stations => refused
weld stations 1 to 2 => weld Station_1; weld Station_2
weld stations 1-2 => weld Station_1; weld Station_2
weld the first position => weld Pos_1
weld the 2nd position => weld Pos_2
weld position 1 => weld Pos_1
weld pos. 1 => weld Pos_1
weld pos.1 => weld Pos_1
weld pos 1 => weld Pos_1
weld pos1 => weld Pos_1
weld place 2 => weld Pos_2
weld spot 3 => weld Pos_3
weld positions 1, 2 and 3 => weld Pos_1; weld Pos_2; weld Pos_3
weld positions 1 through 3 => weld Pos_1; weld Pos_2; weld Pos_3
weld pos 1 pos 2 pos 3 => weld Pos_1; weld Pos_2; weld Pos_3
weld pos 1 2 3 => weld Pos_1; weld Pos_2; weld Pos_3
weld position 3 to 1 => weld Pos_3; weld Pos_2; weld Pos_1
weld 1 => refused
weld 2 => refused
weld 3 => weld Pos_3
weld 1 and 2 => refused
weld the first one => refused
go to 1 => refused
go to 3 => > Pos_3
inspect 2 => look Station_2
inspect 1 => refused
weld station 1. weld 2 => refused
weld station 1 and then weld 2 => refused
weld stations => refused
weld work station 1 => weld Station_1
weld workstation 1 => unknown
weld pos 1 and station 1 and 2 => weld Pos_1; weld Station_1; weld Station_2
weld pos 1 to station 2 => refused
weld pos 1, Rest => weld Pos_1; weld Rest
weld pos 1, rest => refused
go to home 1 => refused
weld station 3 => unknown
weld the third station => unknown
go to station 3 => unknown
go to position 4 => unknown
go to bench 1 => > Bench_1
go to the bench => > Bench_1
go to bench => > Bench_1
go to the first bench => > Bench_1
go to bench 2 => unknown
go to the station => refused
go to a station => refused
go to the position => refused
go to position => refused
go to injection 1 => > Injection_1
go to the injection => > Injection_1
go to inspection 1 => > Inspection_1
go to inspecton 1 => > Inspection_1
go to injecton 1 => > Injection_1
go to Injection1 => > Injection_1
go to insertion 1 => unknown
go to infection 1 => > Injection_1
go to ejection 1 => unknown
go to inspections 1 => > Inspection_1
inspect inspection 1 => look Inspection_1
inspect at inspection 1 => look Inspection_1
inspect the inspection => look Inspection_1
inject => inject Injection_1
inject at injection 1 => inject Injection_1
inject at inspection 1 => inject Inspection_1
go to staton 1 => > Station_1
go to injektion 1 => > Injection_1
go to inspektion 1 => > Inspection_1
go to inspecting 1 => refused
go to waitpos => > Wait_Pos
go to Rest, then Wait_Pos, then home => > Rest; | > Wait_Pos; | > Home
inspect second station first, then first station => look Station_2; | look Station_1
go to the first station and weld => > Station_1; weld Station_1
weld station 1 / pos 1 => refused
weld station 1, i mean pos 1 => refused
go home and wait => refused
go to rest or home => refused
go to statoin 1 => unknown
go to stetion 2 => > Station_2
go to benh 1 => unknown
go to Rest => > Rest
go to rest => > Rest
go to the rest position => > Rest
move to Rest => > Rest
weld at Rest => weld Rest
weld 3, then go to Rest => weld Pos_3; | > Rest
weld 3 and the rest => refused
weld the rest => refused
do the rest => refused
go to the rest => refused
go to Wait_Pos => > Wait_Pos
go to wait pos => > Wait_Pos
go to the wait position => > Wait_Pos
move to wait position and go home => > Wait_Pos; > Home
go to wait_pos => > Wait_Pos
wait at pos 1 => refused
wait pos 1 => refused
wait => refused
go to pos 1 and wait => refused
wait, then weld 3 => refused
go to safe 1 => > Safe_1
go to the safe position => > Safe_1
go to the safe place => > Safe_1
go to safe position 1 => > Safe_1
go to the weld stand => > Weld_Stand
go to the camera stand => > Camera_Stand
go to the stand => refused
go home => > Home
home => > Home
home please => > Home
Home! => > Home
go hoem => > Home
robot go home => > Home
pls go home => > Home
plz go home thx => > Home
go back home pls => > Home
go to home position => > Home
drive home now => > Home
can you weld pos 2? => weld Pos_2
can you please weld pos 2? => weld Pos_2
could you weld station 2, please? => weld Station_2
will you go home? => > Home
would you mind welding pos 2? => weld Pos_2
hello, can you weld pos 2? => weld Pos_2
can you weld pos 2 or not? => refused
can you weld? => refused
weld pos 2? => refused
is pos 2 free? => refused
weld pos 1 first, then pos 2 => weld Pos_1; | weld Pos_2
weld pos 1 first, then 2 => weld Pos_1; | weld Pos_2
weld pos 1 first then 2 => weld Pos_1; | weld Pos_2
weld station 1 first, then 2 => weld Station_1; | weld Station_2
first weld pos 1, then pos 2 => weld Pos_1; | weld Pos_2
firstly weld pos 1, secondly go home => weld Pos_1; | > Home
first weld pos 1, second inspect station 2, third go home => weld Pos_1; | look Station_2; | > Home
1. weld pos 2 2. go home => weld Pos_2; | > Home
1) weld pos 2, 2) go home => weld Pos_2; | > Home
2. weld pos 2 1. go home => refused
weld pos 1 second, pos 2 first => refused
weld pos 1, pos 2 first => refused
weld pos 2 last, pos 1 first => refused
weld pos 1 and 2 first => refused
weld pos 1 and 2 first, then go home => weld Pos_1; weld Pos_2; | > Home
weld pos 1, go home last => weld Pos_1; | > Home
weld pos 1 last, go home => refused
weld pos 1 and pos 2. Begin by attaching the camera => refused
weld pos 1 and 2, start with 2 => refused
weld pos 1, 2 and 3 starting with 3 => refused
weld pos 1, but first attach the welder => refused
weld pos 1, first attach the welder => refused
start by attaching the welder, then weld pos 1 => +Welder; | weld Pos_1
begin with welding pos 1, then go home => weld Pos_1; | > Home
to start with, weld pos 1. then go home => weld Pos_1; | > Home
Finally go home, weld pos 1 and 2 => refused
finally go home => > Home
lastly go home, then weld pos 1 => refused
weld pos 1 and 2 and finally go home => weld Pos_1; weld Pos_2; | > Home
weld pos 1, finally go home => weld Pos_1; | > Home
weld pos 1 finally go home => weld Pos_1; | > Home
weld pos 1, finally go home, weld pos 2 => refused
weld pos 1, and at the end go home => weld Pos_1; | > Home
at the end go home, weld pos 1 => refused
weld pos 1, go home at the end => weld Pos_1; | > Home
go home at the end, weld pos 1 => refused
weld pos 1 afterwards and 2 now => refused
weld pos 1 later and pos 2 now => refused
weld pos 1 afterwards => refused
weld pos 1 now, then pos 2 => weld Pos_1; | weld Pos_2
weld pos 1 then pos 2 now => refused
weld pos 1 now => weld Pos_1
now weld pos 1 => weld Pos_1
weld pos 1. Now go home. => weld Pos_1; | > Home
weld pos 1 and inspect station 2 afterwards => weld Pos_1; | look Station_2
weld pos 1. After that go home. => weld Pos_1; | > Home
weld pos 1, after this go home => weld Pos_1; | > Home
weld pos 1, when done go home => weld Pos_1; | > Home
weld pos 1, next pos 2 => weld Pos_1; | weld Pos_2
weld pos 1 then go home => weld Pos_1; | > Home
before going home weld pos 1 => refused
go home after welding pos 1 => refused
after welding pos 1 go home => refused
go home, before that weld pos 1 => refused
weld pos 1 before pos 2 => refused
weld pos 1 after pos 2 => refused
go to 3 through 2 => refused
go to 3 through station 2 => refused
go to pos 3 through pos 2 => refused
go to pos 3 via pos 2 => refused
go through pos 2 to pos 3 => refused
visit positions 1 through 3 => > Pos_1; > Pos_2; > Pos_3
visit pos 1 to 3 => > Pos_1; > Pos_2; > Pos_3
go to positions 1 to 3 => > Pos_1; > Pos_2; > Pos_3
go to pos 1 to 3 => refused
go to pos 1-3 => > Pos_1; > Pos_2; > Pos_3
go from pos 1 to pos 3 => refused
move pos 1 to pos 3 => refused
visit both stations => > Station_1; > Station_2
weld pos 1. Do the same at pos 3 => weld Pos_1; weld Pos_3
weld pos 1, do the same at 3 => weld Pos_1; weld Pos_3
weld pos 1, same at pos 3 => weld Pos_1; weld Pos_3
weld pos 1, then the same for pos 3 => weld Pos_1; | weld Pos_3
weld pos 1 and inspect station 1, do the same at pos 3 => refused
do the same at pos 3 => refused
go to pos 1, do the same at pos 3 => refused
actually weld pos 1 => refused
actually => refused
weld pos 1, actually pos 2 => refused
weld actually pos 2 => refused
actually pos 1 => refused
sorry, weld pos 1 => refused
weld pos 1 no wait pos 2 => refused
no weld pos 1 => refused
don't weld pos 1 => refused
do not weld station 1 => refused
weld pos 1 not pos 2 => refused
weld pos 1 but not 2 => refused
weld pos 1 or 2 => refused
weld pos 1/2 => refused
weld all positions except 2 => refused
weld everywhere but 2 => refused
weld only pos 1 => refused
weld pos 1 if free => refused
weld pos 1 unless hot => refused
weld pos 1 instead of 2 => refused
skip pos 1, weld pos 2 => refused
weld pos 1 again => refused
weld pos 1 twice => refused
never weld pos 1 => refused
forget pos 1 => refused
weld nothing => refused
weld pos 1 witout welder => refused
weld everywhere => weld Pos_1; weld Pos_2; weld Pos_3; weld Station_1; weld Station_2; weld Rest
weld all positions => refused
weld both positions => refused
take camera => +Camera
take the camra => +Camera
take the camrea => unknown
take cameras => +Camera
attach WELDER => +Welder
atach the welder => +Welder
attahc the welder => +Welder
attack the welder => refused
attach the gripper => unknown
attach the weldor => +Welder
release => -
release tool => -
put the camera back => -Camera
put the tool back, go home => -; > Home
tool release => -
run tool_release, then go home => -; | > Home
run the tool_release routine => -
execute tool_attach Camera => +Camera
run tool_release at the camera stand => refused
attach the camera, go to pos 3, release the tool => +Camera; > Pos_3; -
take camera inspect station 1 put it back => +Camera; look Station_1; -
weld pos 1 weld pos 2 => weld Pos_1; weld Pos_2
weld pos 1 inspect station 1 => weld Pos_1; look Station_1
weld pos 1, station 1 => weld Pos_1; weld Station_1
weld pos 1, pos 2; inspect station 1 => weld Pos_1; weld Pos_2; look Station_1
weld station 1 and inspect 2 => weld Station_1; look Station_2
weld station 1, then pos 2 and 3 => weld Station_1; | weld Pos_2; weld Pos_3
wled pos 1 => weld Pos_1
wedl pos 1 => weld Pos_1
weld postion 1 => weld Pos_1
weld poistion 1 => weld Pos_1
insepct station 1 => look Station_1
inspct station 1 => look Station_1
welding at pos 1 => weld Pos_1
please do weld at pos 1 => weld Pos_1
make a weld at pos 1 => weld Pos_1
make me a coffee => refused
paint pos 1 => unknown
go to nowhere => unknown
weld pos 9 => unknown
go to Station_X => unknown
weld no. 3 => weld Pos_3
weld nr 3 => weld Pos_3
weld #3 => weld Pos_3
weld @ pos 1 => weld Pos_1
move the robot to pos 1 => > Pos_1
move robot to pos 1 => > Pos_1
bring robot home => > Home
go pos 1 => > Pos_1
go to pos 1 please, thank you => > Pos_1
I want you to weld pos 1 => weld Pos_1
you must weld pos 1 => weld Pos_1
weld pos one and pos two => weld Pos_1; weld Pos_2
"""

IN_FIXTURES = """
fasten fixture a and b => fasten Fixture_A; fasten Fixture_B
fasten fixture A => fasten Fixture_A
fasten fixture_a => fasten Fixture_A
fasten fixtures a and b => fasten Fixture_A; fasten Fixture_B
fasten fixtures a, b and c => fasten Fixture_A; fasten Fixture_B; fasten Fixture_C
fasten fixture a b c => fasten Fixture_A; fasten Fixture_B; fasten Fixture_C
fasten fixtures a to c => fasten Fixture_A; fasten Fixture_B; fasten Fixture_C
fasten fixtures a-c => fasten Fixture_A; fasten Fixture_B; fasten Fixture_C
fasten fixture a then b => fasten Fixture_A; | fasten Fixture_B
fasten fixture a first, then c => fasten Fixture_A; | fasten Fixture_C
fasten fixture c, then a => fasten Fixture_C; | fasten Fixture_A
fasten fixture d => refused
fasten b => fasten Fixture_B
fasten b and c => fasten Fixture_B; fasten Fixture_C
fasten a and b => fasten Fixture_A; fasten Fixture_B
fasten a => fasten Fixture_A
fasten a b => fasten Fixture_A; fasten Fixture_B
fasten b c => fasten Fixture_B; fasten Fixture_C
fasten a to c => fasten Fixture_A; fasten Fixture_B; fasten Fixture_C
fasten a, then b => fasten Fixture_A; | fasten Fixture_B
fasten a then b => fasten Fixture_A; | fasten Fixture_B
fasten A please => fasten Fixture_A
fasten a with the screwdriver => fasten Fixture_A
run the fasten routine at fixture a => fasten Fixture_A
fasten everything => refused
go to somewhere => refused
fasten fixture a, b, then c => fasten Fixture_A; fasten Fixture_B; | fasten Fixture_C
fasten fixture a to bench 1 => refused
fasten fixture a, table => refused
fasten a fixture => refused
fasten the fixture => refused
fasten fixture => refused
fasten all fixtures => fasten Fixture_A; fasten Fixture_B; fasten Fixture_C
fasten all three fixtures => fasten Fixture_A; fasten Fixture_B; fasten Fixture_C
fasten both fixtures => refused
fasten every fixture and go home => fasten Fixture_A; fasten Fixture_B; fasten Fixture_C; > Home
fasten everywhere => fasten Fixture_A; fasten Fixture_B; fasten Fixture_C
fasten all fixtures but b => refused
fasten the first fixture => unknown
fasten fixture 1 => unknown
fasten mixture a => refused
fasten fixure a => fasten Fixture_A
fasten fixtrue a => refused
screw fixture b => fasten Fixture_B
tighten fixture b => fasten Fixture_B
tigthen fixture b => fasten Fixture_B
tightn fixture b => fasten Fixture_B
fastne fixture b => fasten Fixture_B
fasten fixture b with the screwdriver => fasten Fixture_B
fasten fixture b with screw driver => refused
fasten fixture b with gripper a => refused
load bench 1 => load Bench_1
load both benches => load Bench_1; load Bench_2
load benches 1 and 2 => load Bench_1; load Bench_2
load bench 1 and bench 2 => load Bench_1; load Bench_2
load bench 1 2 => load Bench_1; load Bench_2
load 1 => load Bench_1
load 1 and 2 => load Bench_1; load Bench_2
load 1 2 => load Bench_1; load Bench_2
load position 1 => load Bench_1
load position 2 => load Bench_2
load place 2 => load Bench_2
load the first bench => load Bench_1
load the second bench => load Bench_2
load the 2nd one => load Bench_2
load the third bench => unknown
load bench 3 => unknown
load 3 => unknown
load bench 1 or 2 => refused
load the bench => refused
load station 1 => unknown
load bench a => unknown
load at all positions => load Bench_1; load Bench_2
load everywhere => load Bench_1; load Bench_2
load => refused
polish => polish Table
polish the table => polish Table
polish at table => polish Table
polish table, then go home => polish Table; | > Home
polsh the table => polish Table
polish bench 1 => polish Bench_1
go to table => > Table
go to the table position => > Table
go to tables => > Table
go to tabel => unknown
go to oven front => > Oven_Front
go to the oven => refused
go to oven => refused
go to front => > Oven_Front
go to the back => > Oven_Back
go back => refused
go to oven back => > Oven_Back
go to oven frnt => refused
attach gripper a => +Gripper_A
attach gripper b => +Gripper_B
attach GripperA => +Gripper_A
attach Gripper_B => +Gripper_B
attach gripper => refused
attach the gripper => refused
attach a gripper => refused
attach the other gripper => refused
attach gripper c => refused
attach griper a => +Gripper_A
attach gripped b => +Gripper_B
attach screwdriver => +Screwdriver
attach the screwdrivers => +Screwdriver
attach the screwdirver => unknown
attach gripper a and b => refused
attach gripper a or b => refused
attach gripper a, load bench 1, release => +Gripper_A; load Bench_1; -
release gripper a => -Gripper_A
put gripper a back => -Gripper_A
put the gripper back => refused
put it back => -
switch to gripper b => +Gripper_B
change tool to screwdriver => +Screwdriver
change tool => refused
change the gripper => refused
drop gripper a => refused
go to grip stand a => > Grip_Stand_A
go to the grip stands a and b => > Grip_Stand_A; > Grip_Stand_B
go to driver stand => > Driver_Stand
go to stand a => > Grip_Stand_A
go to the stand => refused
go to fixture a and fasten => > Fixture_A; fasten Fixture_A
go to fixture a and b and fasten => refused
go to bench 1 and 2 => > Bench_1; > Bench_2
go to bench 1, then 2 => > Bench_1; | > Bench_2
go to b => refused
go to fixture b through a => refused
go to 1 => > Bench_1
go to 2 => > Bench_2
go to a => refused
can you fasten fixture a? => fasten Fixture_A
could u fasten fixture a pls => fasten Fixture_A
fasten fixture a, do the same at b => fasten Fixture_A; fasten Fixture_B
fasten fixture a. repeat at fixture c => fasten Fixture_A; fasten Fixture_C
load bench 1 and fasten a => load Bench_1; fasten Fixture_A
load bench 1, fasten fixture a, go home => load Bench_1; fasten Fixture_A; > Home
load bench 1 first, fasten fixture a, finally go home => load Bench_1; | fasten Fixture_A; | > Home
load bench 1, then fasten fixture a and b, then go home => load Bench_1; | fasten Fixture_A; fasten Fixture_B; | > Home
fasten fixture a, before that load bench 1 => refused
fasten a afterwards, load bench 1 => refused
fasten fixture a quickly => refused
fasten fixture a for 3 seconds => refused
fasten fixture a at 3 => refused
don't load bench 1 => refused
do not fasten fixture b => refused
fasten neither a nor b => refused
fasten fixture a and maybe b => refused
load bench 1 without gripper => refused
load bench 1 unless full => refused
unload bench 1 => unknown
unfasten fixture a => unknown
weld bench 1 => unknown
go to paint shop => unknown
visit all benches => > Bench_1; > Bench_2
visit benches 1 to 2 => > Bench_1; > Bench_2
move robot to the table please => > Table
ok robot, polish the table and go home => polish Table; > Home
polish table; load bench 2. => polish Table; load Bench_2
table => refused
1 2 => refused
load bench 1 next bench 2 => load Bench_1; | load Bench_2
load bench 1 plus bench 2 => load Bench_1; load Bench_2
load bench 1 & 2 => load Bench_1; load Bench_2
load bench 1+2 => load Bench_1; load Bench_2
load bench 1 and 2 and polish table => load Bench_1; load Bench_2; polish Table
"""

IN_GARDEN = """
weld 1 => tack_weld Pos_1
weld 1 2 3 => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld 1 2 and 3 => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld 1,2,3 => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld 1 and 2 => tack_weld Pos_1; tack_weld Pos_2
weld 1-3 => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld 1 through 3 => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld 1 thru 3 => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld 1 up to 3 => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld 3 down to 1 => tack_weld Pos_3; tack_weld Pos_2; tack_weld Pos_1
weld from 1 to 3 => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld 1 first, then 2 => tack_weld Pos_1; | tack_weld Pos_2
weld 2 first, then 1 => tack_weld Pos_2; | tack_weld Pos_1
weld 2 first and 1 => tack_weld Pos_2; | tack_weld Pos_1
weld 1, then 2, then 3 => tack_weld Pos_1; | tack_weld Pos_2; | tack_weld Pos_3
weld 1 and then 2 => tack_weld Pos_1; | tack_weld Pos_2
weld 1, after that 2 => tack_weld Pos_1; | tack_weld Pos_2
weld 1. Then go home. => tack_weld Pos_1; | > Home
weld 1 then home => tack_weld Pos_1; | > Home
weld 1, home => refused
weld 1; home => refused
weld pos 1, home => refused
weld pos 1 and home => refused
weld 1, then home => tack_weld Pos_1; | > Home
weld from 1 => refused
weld 1st => refused
finish welding 1 => refused
weld the second position first, then the first one => tack_weld Pos_2; | tack_weld Pos_1
home first, then weld 1 => > Home; | tack_weld Pos_1
weld 1 to 3 and 2 => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3; tack_weld Pos_2
weld 1 - 2 - 3 => refused
weld 1 and go to safe 1 first => refused
go to 1 then weld => > Pos_1; | tack_weld Pos_1
weld 1, then inspect => refused
take the welder off => -Welder
bring camera back => -Camera
weld 1 home => refused
weld 1 and go home => tack_weld Pos_1; > Home
weld 1 go home => tack_weld Pos_1; > Home
weld 1 afterwards and 2 now => refused
weld 1 and 2. Begin by attaching the camera => refused
Finally go home, weld 1 and 2 => refused
weld 1 at the end, inspect 2 => refused
weld 1 and 2 at the end => tack_weld Pos_1; tack_weld Pos_2
in the end weld 1, go home => refused
first of all clean, then weld 1 => clean_tip Cleaning_Station; | tack_weld Pos_1
clean first, then weld 1 => clean_tip Cleaning_Station; | tack_weld Pos_1
weld 1, clean first => refused
weld 1, clean the tip => refused
clean => clean_tip Cleaning_Station
clean at the station => clean_tip Cleaning_Station
clean at cleaning station => clean_tip Cleaning_Station
go to the station => > Cleaning_Station
go to station => > Cleaning_Station
go to the cleaning station => > Cleaning_Station
go to station 1 => unknown
weld station 1 => unknown
inspect the first station => unknown
go to cleaning => > Cleaning_Station
go to 3 through 2 => refused
go to 3 via 2 => refused
go to 1 => > Pos_1
go to 1 and 2 => > Pos_1; > Pos_2
go to 1 2 3 => > Pos_1; > Pos_2; > Pos_3
go to 1 to 3 => refused
go to 1 through 3 => refused
visit 1 through 3 => > Pos_1; > Pos_2; > Pos_3
go to safe 1 => > Safe_Pos_1
go to safe position 2 => > Safe_Pos_2
go to safe pos. 2 => > Safe_Pos_2
go to the first safe position => > Safe_Pos_1
go to safe positions 1 and 2 => > Safe_Pos_1; > Safe_Pos_2
go to safe pos 1, then 2 => > Safe_Pos_1; | > Safe_Pos_2
go to the safe position => refused
go to safe position 4 => unknown
go to a safe place => refused
visit all safe positions => > Safe_Pos_1; > Safe_Pos_2; > Safe_Pos_3
go to work position 1 => > Pos_1
go to the weld position => refused
go to the camera position => refused
go to tool weld position => > Tool_Weld_Position
go to tool camera position => > Tool_Camera_Position
weld the first position => tack_weld Pos_1
weld first position => tack_weld Pos_1
weld the last position => refused
weld the next position => refused
weld the third one => tack_weld Pos_3
weld the 1st, 2nd and 3rd position => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld the fifth position => unknown
weld 9 => unknown
weld position 9 => unknown
weld 1 to 9 => unknown
weld 1 and 9 => unknown
weld 4 => tack_weld Pos_4
spot weld 2 => spot_weld Pos_2
spot weld 2 and 3 => spot_weld Pos_2; spot_weld Pos_3
spot weld position 1 => spot_weld Pos_1
spotweld 2 => spot_weld Pos_2
tack weld 1 => tack_weld Pos_1
tackweld 1 => tack_weld Pos_1
tack-weld 1 => tack_weld Pos_1
weld spot 2 => tack_weld Pos_2
weld safe position 1 => tack_weld Safe_Pos_1
weld all positions => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld everywhere => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld every position please => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld all three positions => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld all four positions => refused
weld both positions => refused
weld two positions => refused
inspect both positions => inspect_seam Pos_1; inspect_seam Pos_2
inspect both => refused
inspect 1 and 2 => inspect_seam Pos_1; inspect_seam Pos_2
inspect 1 with the camera => inspect_seam Pos_1
inspect 1 with camera 2 => refused
inspect 1 using camera => inspect_seam Pos_1
attach camera => +Camera
attach camera 2 => +Camera_2
attach the second camera => refused
attach camera 3 => refused
pick up camera2 => +Camera_2
pick up the camera and inspect 2 => +Camera; inspect_seam Pos_2
pick camera up => +Camera
get the welder => +Welder
get welder, weld 1, put it back, go home => +Welder; tack_weld Pos_1; -; > Home
fetch welder then weld 1 => +Welder; | tack_weld Pos_1
weld 1, inspect 1, weld 2, inspect 2 => tack_weld Pos_1; inspect_seam Pos_1; tack_weld Pos_2; inspect_seam Pos_2
weld 1 and inspect 2 => tack_weld Pos_1; inspect_seam Pos_2
weld and inspect 1 => refused
weld or inspect 1 => refused
weld 1 or inspect 1 => refused
either weld 1 or 2 => refused
weld 1 then if ok go home => refused
weld 1 while inspecting 2 => refused
weld 1 until done => refused
weld 1 slowly => refused
weld 1 twice => refused
weld 1 3 times => refused
weld 1, do the same at 3 => tack_weld Pos_1; tack_weld Pos_3
weld 1 and 2, do the same at 3 => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld 1, repeat at 2 and 3 => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld 1 likewise 2 => refused
weld 1 too => tack_weld Pos_1
weld 1 also 2 => refused
weld 1, and also 2 => tack_weld Pos_1; tack_weld Pos_2
weld 1 as well as 2 => tack_weld Pos_1; tack_weld Pos_2
weld -1 => refused
weld 1.5 => refused
weld 1/2 => refused
weld (1) => refused
weld 1a => refused
weld p1 => unknown
weld l => unknown
weld one => tack_weld Pos_1
weld number one => tack_weld Pos_1
weld no 1 => refused
weld no. 1 => tack_weld Pos_1
weld it => refused
weld that => refused
weld here => refused
go there => refused
go left => unknown
go => refused
weld => refused
weld please => refused
please => refused
thanks => refused
ok => refused
stop => refused
abort => refused
cancel the weld at 1 => refused
what can you do => refused
where is the camera? => refused
why => refused
help => refused
weld 1!!! => tack_weld Pos_1
WELD 1 => tack_weld Pos_1
Weld 1, pls. => tack_weld Pos_1
weld 1 thx => tack_weld Pos_1
good morning, weld 1 => tack_weld Pos_1
weld 1 sir => tack_weld Pos_1
let's weld 1 => tack_weld Pos_1
we need to weld 1 => tack_weld Pos_1
weld at 1 and at 2 => tack_weld Pos_1; tack_weld Pos_2
weld on 1 => tack_weld Pos_1
weld in position 1 => tack_weld Pos_1
weld to position 1 => refused
do weld 1 => tack_weld Pos_1
run tack_weld at 1 => tack_weld Pos_1
run grinding at 1 => unknown
grind 1 => unknown
held 1 => unknown
weld 1 and paint 2 => unknown
weld 1 and dance => refused
wield 1 => unknown
weld 1 weld 2 weld 3 => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld 1\\nweld 2 => tack_weld Pos_1; tack_weld Pos_2
1. weld 1\\n2. weld 2\\n3. go home => tack_weld Pos_1; | tack_weld Pos_2; | > Home
weld 1 ... 3 => tack_weld Pos_1; tack_weld Pos_2; tack_weld Pos_3
weld 1; go home; => tack_weld Pos_1; > Home
then weld 1 => refused
and weld 1 => refused
weld 1 and => refused
weld 1 then => refused
weld 1, then => refused
first weld 1 => tack_weld Pos_1
weld 1 first => tack_weld Pos_1
first weld 2, weld 1 => tack_weld Pos_2; | tack_weld Pos_1
weld 1, second weld 2 => tack_weld Pos_1; | tack_weld Pos_2
weld 1, third weld 2 => refused
weld 3, 2, 1 => tack_weld Pos_3; tack_weld Pos_2; tack_weld Pos_1
weld 1 in reverse => refused
weld 1 2 times => refused
weld 1 and 2, 1 last => refused
weld 1 and 2, 1 first, then go home => refused
weld 1, 2, 3; 2 first => refused
weld Pos_1_2 => refused
weld in order 3 2 1 => refused
weld w/o camera => refused
goto 1 => > Pos_1
go to 1, then to 2 => > Pos_1; | > Pos_2
go to 1, 2, home => > Pos_1; > Pos_2; > Home
weld 1and 2 => tack_weld Pos_1; tack_weld Pos_2
drive to position 3 and make weld => > Pos_3; tack_weld Pos_3
do welding on pos 2 and 3 => tack_weld Pos_2; tack_weld Pos_3
weld position 1 after weld position 2 => refused
the robot should weld 1 => refused
weld 1 und 2 => refused
switch the camera off => refused
bring the camera home => refused
put the camera on 2 => refused
go to 2 from 1 => refused
weld one and two, finally home => tack_weld Pos_1; tack_weld Pos_2; | > Home
pls weld pos 1 & 2, thx! => tack_weld Pos_1; tack_weld Pos_2
"""

CORPUS = ((ASSEMBLY, IN_ASSEMBLY), (FIXTURES, IN_FIXTURES), (GARDEN, IN_GARDEN))
