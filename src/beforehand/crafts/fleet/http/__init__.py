"""The calls on robots, worksites, streams, tasks and whole fleets."""

from beforehand.crafts.fleet.http import fleets, robots, streams, tasks, worksites
from beforehand.crafts.fleet.http.shapes import REQUESTS, FleetShape, RobotShape, StreamShape, TaskShape, WorksiteShape
from beforehand.server.kit import HttpPart

HTTP = HttpPart(
    routers=(robots.router, worksites.router, streams.router, tasks.router, fleets.router),
    requests=REQUESTS,
    state={
        "robots": RobotShape,
        "worksites": WorksiteShape,
        "streams": StreamShape,
        "tasks": TaskShape,
        "fleets": FleetShape,
    },
    brakes=("fleet/*/hold", "robots/*/hold", "tasks/*/cancel"),
)
