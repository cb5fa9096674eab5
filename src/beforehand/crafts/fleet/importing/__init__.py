"""Maps of other systems become fleet scenes: openTCS plant models, SEER .smap, VDMA LIF, MovingAI grids.

Each reader fills one `Draft`, which keeps what a scene can say and notes what it cannot; nothing is left out silently.
"""

from beforehand.app.craft import Importer
from beforehand.crafts.fleet.importing.lif import is_lif, read_lif
from beforehand.crafts.fleet.importing.movingai import is_movingai, read_movingai
from beforehand.crafts.fleet.importing.opentcs import is_opentcs, read_opentcs
from beforehand.crafts.fleet.importing.smap import is_smap, read_smap

IMPORTERS = (
    Importer("opentcs", "openTCS plant model (XML)", is_opentcs, read_opentcs),
    Importer("smap", "SEER map (.smap, JSON)", is_smap, read_smap),
    Importer("lif", "VDMA LIF layout (JSON)", is_lif, read_lif),
    Importer("movingai", "MovingAI grid (.map)", is_movingai, read_movingai, starts=True),
)
