"""Questions about the month, each in three wordings, with SQL over the log's own tables that answers it by hand.

`t` are tasks, `h` picks and drops, `s` stretches of robots, `d` decisions, `ev` events: views over the log, see VIEWS.
"""

from typing import NamedTuple

VIEWS = """
CREATE TEMP VIEW ev AS SELECT seq, ts, kind, json_extract(CAST(line AS TEXT), '$.data') AS data,
    json_extract(CAST(line AS TEXT), '$.about.robotId') AS robot FROM events;
CREATE TEMP TABLE sent AS SELECT json_extract(data, '$.taskId') AS task, MIN(json_extract(data, '$.sentTsMs')) AS at
    FROM ev WHERE kind = 'taskUpdated' AND json_extract(data, '$.sentTsMs') > 0 GROUP BY 1;
CREATE TEMP TABLE t AS SELECT body ->> '$.taskId' AS task, body ->> '$.streamId' AS stream,
    body ->> '$.robotId' AS robot, body ->> '$.sourceId' AS source, body ->> '$.targetId' AS target,
    body ->> '$.status' AS status, body ->> '$.step' AS step, body ->> '$.errorCode' AS code,
    body ->> '$.error' AS error,
    body ->> '$.createdTsMs' AS made, body ->> '$.endedTsMs' AS ended,
    (sent.at - (body ->> '$.createdTsMs')) / 1000.0 AS wait,
    ((body ->> '$.endedTsMs') - (body ->> '$.createdTsMs')) / 1000.0 AS took
    FROM (SELECT CAST(body AS TEXT) AS body FROM rows WHERE kind = 'task') LEFT JOIN sent ON task = body ->> '$.taskId';
CREATE TEMP TABLE h AS
    SELECT CASE kind WHEN 'palletPicked' THEN 'pick' ELSE 'drop' END AS what, 1 AS ok, ts AS at,
        data ->> '$.worksiteId' AS place, data ->> '$.robotId' AS robot, NULL AS code
        FROM ev WHERE kind IN ('palletPicked', 'palletDropped')
    UNION ALL SELECT step, 0, ended, CASE step WHEN 'pick' THEN source ELSE target END, robot, code FROM t
        WHERE status = 'failed';
CREATE TEMP TABLE s AS
    WITH told AS (SELECT seq, ts, robot, data ->> '$.phase' AS phase FROM ev WHERE kind = 'robotUpdated'),
    changes AS (SELECT *, LAG(phase) OVER (PARTITION BY robot ORDER BY seq) AS before FROM told)
    SELECT robot, phase, ts AS began, (LEAD(ts) OVER (PARTITION BY robot ORDER BY seq) - ts) / 1000.0 AS took
    FROM changes WHERE before IS NOT phase;
CREATE TEMP TABLE d AS SELECT body ->> '$.id' AS id, body ->> '$.status' AS status, body ->> '$.answer.by' AS by,
    CAST(strftime('%s', body ->> '$.openedAt') AS INTEGER) * 1000 AS opened,
    (strftime('%s', body ->> '$.answer.at') - strftime('%s', body ->> '$.openedAt')) * 1.0 AS took
    FROM (SELECT CAST(body AS TEXT) AS body FROM rows WHERE kind = 'decision');
"""

TIMES = {
    "today": "2026-11-15",
    "tomorrow": "2026-11-16",
    "yesterday": "2026-11-14",
    "before": "2026-11-13",
    "week": "2026-11-09",
    "nextweek": "2026-11-16",
    "lastweek": "2026-11-02",
    "nov": "2026-11-01",
    "dec": "2026-12-01",
    "oct": "2026-10-01",
    "tue": "2026-11-10",
    "wed": "2026-11-11",
    "nov3": "2026-11-03",
    "nov4": "2026-11-04",
    "nov5": "2026-11-05",
    "nov8": "2026-11-08",
    "y8": "2026-11-14T08:00:00",
    "y10": "2026-11-14T10:00:00",
    "t9": "2026-11-15T09:00:00",
    "now": "2026-11-15T12:00:00",
    "ago3h": "2026-11-15T09:00:00",
    "ago24h": "2026-11-14T12:00:00",
    "ago7d": "2026-11-08T12:00:00",
    "ago30m": "2026-11-15T11:30:00",
    "mon14": "2026-11-09T14:00:00",
}
YESTERDAY = "BETWEEN :yesterday AND :today - 1"
TODAY = "BETWEEN :today AND :tomorrow - 1"
WEEK = "BETWEEN :week AND :nextweek - 1"
LAST_WEEK = "BETWEEN :lastweek AND :week - 1"
NOVEMBER = "BETWEEN :nov AND :dec - 1"
OCTOBER = "BETWEEN :oct AND :nov - 1"
DAY = "strftime('%Y-%m-%d', {} / 1000, 'unixepoch')"
HOUR = "strftime('%Y-%m-%d %H:00', {} / 1000, 'unixepoch')"
FAILED, DONE = "status = 'failed'", "status = 'completed'"
WAITING = "phase IN ('idle', 'held', 'error')"


class Case(NamedTuple):
    sql: str
    wordings: tuple[str, ...]
    look: str = "rows"
    """`rows` compares all of the answer's table, `first` its first column, `some` the rows that are not empty."""


def top(value: str, table: str, where: str, by: str, way: str = "DESC", size: int = 1) -> str:
    """The first ones, and whatever is as good as the last of them."""
    each = f"SELECT {by} AS k, {value} AS v FROM {table} WHERE {where} GROUP BY k"
    ranked = f"SELECT *, RANK() OVER (ORDER BY v {way}) AS n FROM ({each})"
    return f"SELECT k, v FROM ({ranked}) WHERE n <= {size} ORDER BY n, k"


CASES = (
    Case(
        f"SELECT COUNT(*) FROM h WHERE what = 'pick' AND NOT ok AND place = 'PICK_01' AND at {YESTERDAY}",
        (
            "how many picks failed at PICK_01 yesterday?",
            "number of failed picks at pick_01 yesterday",
            "Yesterday, how often did a pick fail at PICK_01?",
        ),
    ),
    Case(
        top("TOTAL(took)", "s", f"{WAITING} AND began {WEEK}", "robot"),
        (
            "which robot waited longest this week?",
            "what robot was waiting for the longest time this week",
            "This week, which forklift waited the longest?",
        ),
    ),
    Case(
        "SELECT task, status, 'nothing is written down as an error' FROM t WHERE task = 'hall-t13'",
        ("why did task t13 fail?", "what went wrong with task hall-t13?", "why was t13 failed"),
    ),
    Case(
        "SELECT task, status, error FROM t WHERE status = 'failed' ORDER BY ended LIMIT 1",
        ("why did task FIRST fail?", "what caused task FIRST to fail", "for what reason did transport FIRST fail?"),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE {DONE} AND ended {YESTERDAY}",
        (
            "how many tasks were completed yesterday?",
            "count of finished tasks yesterday",
            "the number of transports that were done yesterday",
        ),
    ),
    Case(
        f"SELECT {HOUR.format('ended')}, COUNT(*) FROM t WHERE {DONE} AND ended {YESTERDAY} GROUP BY 1 ORDER BY 1",
        (
            "how many tasks were completed per hour yesterday?",
            "completed tasks by hour yesterday",
            "hourly count of completed tasks yesterday",
        ),
        "some",
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE {FAILED} AND ended {TODAY}",
        ("how many tasks failed today?", "number of failures today", "how many failed transports are there today"),
    ),
    Case(
        f"SELECT task FROM t WHERE {FAILED} AND ended {TODAY} ORDER BY ended DESC LIMIT 10",
        ("list failed tasks today", "show me the tasks that failed today", "which tasks failed today?"),
        "first",
    ),
    Case(
        f"SELECT task FROM t WHERE {FAILED} ORDER BY ended DESC LIMIT 5",
        ("the last 5 failed tasks", "show the latest five tasks that failed", "list the last 5 failed transports"),
        "first",
    ),
    Case(
        f"SELECT task FROM t WHERE made {OCTOBER} ORDER BY made ASC LIMIT 3",
        (
            "first 3 tasks in October",
            "show me the oldest three tasks in October",
            "list the first 3 transports in October",
        ),
        "first",
    ),
    Case(
        "SELECT stream, AVG(took) FROM t WHERE made BETWEEN :ago7d AND :now GROUP BY stream ORDER BY 2 DESC",
        (
            "average duration of tasks per stream in the last 7 days",
            "mean duration of transports by stream over the past seven days",
            "what is the average cycle time of tasks for each stream in the last 7 days?",
        ),
    ),
    Case(
        f"SELECT AVG(wait) FROM t WHERE made {YESTERDAY}",
        (
            "average wait of tasks yesterday",
            "how long did tasks wait on average yesterday?",
            "what was the mean waiting time of tasks yesterday?",
        ),
    ),
    Case(
        top("COUNT(*)", "h", f"what = 'pick' AND NOT ok AND at {NOVEMBER}", "place"),
        (
            "which worksite had the most failed picks in November?",
            "what station had most failed picks during November",
            "In November, at which worksite did picks fail most often?",
        ),
    ),
    Case(
        top("COUNT(*)", "t", f"{DONE} AND ended {NOVEMBER}", "robot", size=3),
        (
            "top 3 robots by completed tasks this month",
            "top three forklifts with the most completed tasks this month",
            "the top 3 trucks by finished transports in November 2026",
        ),
    ),
    Case(
        top("COUNT(*)", "t", f"{FAILED} AND ended {LAST_WEEK}", "robot"),
        (
            "which robot failed most tasks last week?",
            "which robot had the most failures last week",
            "what forklift had most failed tasks in the previous week",
        ),
    ),
    Case(
        top("COUNT(*)", "t", f"{DONE} AND ended {LAST_WEEK}", "robot", "ASC"),
        (
            "which robot completed the fewest tasks last week?",
            "which robot finished the least transports last week",
            "what truck had the fewest completed tasks last week",
        ),
    ),
    Case(
        top("AVG(wait)", "t", f"made {NOVEMBER}", "stream"),
        (
            "which stream has the longest average wait this month?",
            "what stream had the highest average waiting time in November",
            "which flow had the longest mean wait this month?",
        ),
    ),
    Case(
        f"SELECT COUNT(DISTINCT robot) FROM t WHERE {DONE} AND ended BETWEEN :week AND :tue - 1",
        (
            "how many different robots completed tasks on Monday?",
            "how many robots finished tasks last Monday",
            "count the different forklifts with completed transports on monday",
        ),
    ),
    Case(
        f"SELECT ROUND(100.0 * SUM({FAILED}) / COUNT(*), 1), SUM({FAILED}), COUNT(*) FROM t WHERE ended {LAST_WEEK}",
        (
            "what share of tasks failed last week?",
            "which percentage of tasks failed last week",
            "what proportion of transports failed in the last week",
        ),
    ),
    Case(
        f"SELECT TOTAL(took) FROM s WHERE phase = 'charging' AND robot = 'RB-03' AND began {YESTERDAY}",
        (
            "how long did RB-03 charge yesterday?",
            "total charging time of RB-03 yesterday",
            "how much time did RB-03 spend charging yesterday",
        ),
    ),
    Case(
        f"SELECT task FROM t WHERE ended {OCTOBER} ORDER BY took DESC LIMIT 1",
        (
            "which task took longest last month?",
            "what task took the longest in October",
            "which transport lasted the longest in October 2026?",
        ),
        "first",
    ),
    Case(
        "SELECT COUNT(*) FROM ev WHERE kind = 'fleetHeld' AND ts BETWEEN :nov AND :now",
        (
            "how many holds since 2026-11-01?",
            "number of fleet holds since november",
            "how often was there a hold since 2026-11-01",
        ),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE {FAILED} AND ended >= (SELECT MAX(ts) FROM ev WHERE kind = 'fleetHeld')",
        (
            "how many tasks failed since the last hold?",
            "number of failures since the last hold",
            "since the last hold, how many transports failed?",
        ),
    ),
    Case(
        "SELECT strftime('%Y-%m-%dT%H:%M:%S.000Z', MAX(ts) / 1000, 'unixepoch') FROM ev WHERE kind = 'fleetHeld'",
        ("when did the last hold happen?", "when was the last fleet hold", "when was the latest hold?"),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE {FAILED} AND ended BETWEEN :y8 AND :y10 - 1",
        (
            "how many tasks failed between 8 and 10 yesterday?",
            "number of failures yesterday from 8:00 to 10:00",
            "yesterday between 8am and 10am, how many transports failed",
        ),
    ),
    Case(
        "SELECT COUNT(*) FROM t WHERE status = 'completed' AND ended BETWEEN :mon14 AND :tue - 1",
        (
            "how many tasks were completed on Monday after 14:00?",
            "number of completed tasks on monday after 2pm",
            "After 14:00 on Monday, how many transports finished?",
        ),
    ),
    Case(
        "SELECT COUNT(*) FROM t WHERE made BETWEEN :today AND :t9 - 1",
        (
            "how many tasks were created today before 9?",
            "number of tasks made before 9:00",
            "how many transports were requested today before 9am",
        ),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE took > 300 AND {DONE} AND ended {YESTERDAY}",
        (
            "how many completed tasks took longer than 5 minutes yesterday?",
            "number of tasks completed yesterday that took more than 5 minutes",
            "yesterday, how many finished transports took over 300 seconds",
        ),
    ),
    Case(
        f"SELECT COUNT(*) FROM ev WHERE kind = 'commandSent' AND robot = 'RB-01' AND ts {TODAY}",
        (
            "how many commands were sent to RB-01 today?",
            "number of orders given to RB-01 today",
            "count the commands to rb-01 today",
        ),
    ),
    Case(
        top("COUNT(*)", "t", f"{FAILED} AND ended {YESTERDAY}", HOUR.format("ended")),
        (
            "which hour had the most failures yesterday?",
            "in which hour did most tasks fail yesterday",
            "what hour had the most failed transports yesterday",
        ),
    ),
    Case(
        top("COUNT(*)", "t", f"{DONE} AND ended {LAST_WEEK}", DAY.format("ended"), "ASC"),
        (
            "which day had the fewest completed tasks last week?",
            "on which day of last week were the fewest tasks completed",
            "what day had the least finished tasks last week",
        ),
    ),
    Case(
        "SELECT COUNT(*) FROM d WHERE status = 'open'",
        ("how many decisions are open?", "number of open decisions", "count the unanswered decisions"),
    ),
    Case(
        "SELECT AVG(took) FROM d WHERE status = 'answered'",
        (
            "average wait of answered decisions",
            "how long did answered decisions wait on average?",
            "the mean wait of decisions that were answered",
        ),
    ),
    Case(
        top("COUNT(*)", "d", "status = 'answered'", "by"),
        ("who answered most decisions?", "who answered the most decisions", "which person answered most decisions?"),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE source = 'PICK_01' AND target = 'DROP_02' AND made {OCTOBER}",
        (
            "how many tasks went from PICK_01 to DROP_02 in October?",
            "number of transports from PICK_01 to DROP_02 in october",
            "tasks created in October from pick_01 to drop_02: how many?",
        ),
    ),
    Case(
        f"SELECT COUNT(*) FROM h WHERE what = 'drop' AND ok AND place = 'DROP_01' AND at {OCTOBER}",
        (
            "how many pallets were dropped at DROP_01 last month?",
            "number of pallets dropped at DROP_01 in October",
            "how many drops worked at DROP_01 last month",
        ),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE {DONE} AND robot = 'RB-01' AND ended {YESTERDAY}",
        (
            "how many tasks did RB-01 complete yesterday?",
            "tasks completed by robot RB-01 yesterday: how many",
            "how many tasks did rb1 finish yesterday?",
        ),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE {DONE} AND robot IN ('RB-01', 'RB-02') AND ended {YESTERDAY}",
        (
            "how many tasks did RB-01 and RB-02 complete yesterday?",
            "number of tasks completed by RB-01 or RB-02 yesterday",
            "yesterday's completed tasks of RB-01 and RB-02, how many?",
        ),
    ),
    Case(
        f"SELECT took FROM t WHERE {DONE} AND ended {NOVEMBER} ORDER BY took"
        f" LIMIT 1 OFFSET (SELECT COUNT(*) / 2 FROM t WHERE {DONE} AND ended {NOVEMBER})",
        (
            "median duration of completed tasks in November",
            "what is the median cycle time of tasks completed this month?",
            "the median duration of finished transports this month",
        ),
    ),
    Case(
        f"SELECT robot, TOTAL(took) FROM s WHERE phase = 'charging' AND began {WEEK} GROUP BY robot ORDER BY 2 DESC",
        (
            "total charging time per robot this week",
            "how long did each robot charge this week in total?",
            "sum of the time charging by robot this week",
        ),
    ),
    Case(
        f"SELECT code, COUNT(*) FROM t WHERE {FAILED} AND ended {NOVEMBER} GROUP BY code ORDER BY 2 DESC, 1",
        (
            "how many failures per error this month?",
            "failed tasks by error code this month",
            "number of failed tasks for each reason in November",
        ),
    ),
    Case(
        f"SELECT {DAY.format('ended')}, COUNT(*) FROM t WHERE {FAILED} AND ended {LAST_WEEK} GROUP BY 1 ORDER BY 1",
        (
            "how many tasks failed per day last week?",
            "failures per day last week",
            "daily number of failed tasks last week",
        ),
        "some",
    ),
    Case(
        f"SELECT robot, COUNT(*) FROM t WHERE {DONE} AND ended {YESTERDAY} GROUP BY robot ORDER BY 2 DESC, 1",
        (
            "how many tasks were completed per robot yesterday?",
            "completed tasks by robot yesterday",
            "count finished tasks for each forklift yesterday",
        ),
    ),
    Case(
        f"SELECT place, COUNT(*) FROM h WHERE what = 'pick' AND NOT ok AND at {OCTOBER} GROUP BY 1 ORDER BY 2 DESC, 1",
        (
            "failed picks per worksite in October",
            "how many picks failed by place in October?",
            "number of failed picks for each station last month",
        ),
    ),
    Case(
        "SELECT COUNT(*) FROM t WHERE made BETWEEN :ago3h AND :now",
        (
            "how many tasks were created in the last 3 hours?",
            "number of tasks made in the past three hours",
            "how many transports over the last 3 hours",
        ),
    ),
    Case(
        "SELECT COUNT(*) FROM t WHERE status = 'completed' AND ended BETWEEN :ago24h AND :now",
        (
            "how many tasks were completed in the last 24 hours?",
            "number of tasks finished within the last 24 hours",
            "completed tasks in the past twenty-four hours: how many?",
        ),
    ),
    Case(
        "SELECT COUNT(*) FROM t WHERE made BETWEEN :ago30m AND :now",
        (
            "how many tasks were created in the last 30 minutes?",
            "number of tasks made during the past 30 minutes",
            "how many transports in the last 30 minutes?",
        ),
    ),
    Case(
        "SELECT COUNT(*) FROM t WHERE status = 'failed' AND ended BETWEEN :nov3 AND :nov4 - 1",
        (
            "how many tasks failed on 2026-11-03?",
            "number of failures on November 3rd",
            "how many transports failed on the 3rd of November?",
        ),
    ),
    Case(
        "SELECT COUNT(*) FROM t WHERE status = 'completed' AND ended BETWEEN :nov3 AND :nov8 - 1",
        (
            "how many tasks were completed between 2026-11-03 and 2026-11-07?",
            "number of completed tasks from 2026-11-03 to 2026-11-07",
            "from 2026-11-03 until 2026-11-07, how many transports were finished",
        ),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE {FAILED} AND ended BETWEEN :before AND :yesterday - 1",
        (
            "how many tasks failed the day before yesterday?",
            "number of failures the day before yesterday",
            "the day before yesterday, how many transports failed?",
        ),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE status = 'canceled' AND ended {NOVEMBER}",
        (
            "how many tasks were cancelled this month?",
            "number of canceled tasks in November",
            "how often was a task cancelled in the current month",
        ),
    ),
    Case(
        "SELECT COUNT(*) FROM t WHERE status IN ('created', 'active', 'held', 'stale')",
        ("how many tasks are open?", "number of unfinished tasks", "count the active transports"),
    ),
    Case(
        f"SELECT MAX(took) FROM t WHERE {DONE} AND ended {YESTERDAY}",
        (
            "longest duration of completed tasks yesterday",
            "what was the maximum duration of tasks completed yesterday?",
            "the longest cycle time of finished tasks yesterday",
        ),
    ),
    Case(
        f"SELECT MIN(took) FROM t WHERE {DONE} AND ended {YESTERDAY}",
        (
            "shortest duration of completed tasks yesterday",
            "what was the minimum duration of tasks completed yesterday?",
            "the shortest cycle time of finished tasks yesterday",
        ),
    ),
    Case(
        f"SELECT SUM(wait) FROM t WHERE stream = 'inbound' AND made {WEEK}",
        (
            "total wait of tasks of stream inbound this week",
            "sum of the waiting time of inbound tasks this week",
            "how long did inbound tasks wait in total this week?",
        ),
    ),
    Case(
        f"SELECT AVG(took) FROM t WHERE stream = 'outbound' AND {DONE} AND ended {YESTERDAY}",
        (
            "average duration of completed outbound tasks yesterday",
            "how long did completed tasks of the stream outbound take on average yesterday?",
            "mean cycle time of tasks from outbound completed yesterday",
        ),
    ),
    Case(
        f"SELECT {HOUR.format('made')}, AVG(wait) FROM t WHERE made {TODAY} GROUP BY 1 ORDER BY 1",
        (
            "average wait of tasks per hour today",
            "hourly mean waiting time of tasks today",
            "how long did tasks wait on average for each hour today?",
        ),
        "some",
    ),
    Case(
        top("TOTAL(took)", "s", f"phase = 'idle' AND began {YESTERDAY}", "robot"),
        (
            "which robot was idle longest yesterday?",
            "what robot idled the most time yesterday",
            "which forklift spent the most time idle yesterday?",
        ),
    ),
    Case(
        top("MAX(took)", "s", f"{WAITING} AND began {WEEK}", "robot"),
        (
            "which robot had the longest wait this week?",
            "what robot had the longest single wait this week",
            "which truck has the longest wait of this week?",
        ),
    ),
    Case(
        f"SELECT TOTAL(took) FROM s WHERE phase = 'error' AND began {WEEK}",
        (
            "how long were robots in error this week?",
            "total time in error this week",
            "how much time in error was there this week",
        ),
    ),
    Case(
        f"SELECT COUNT(*) FROM h WHERE what = 'pick' AND ok AND robot = 'RB-04' AND at {LAST_WEEK}",
        (
            "how many pallets did RB-04 pick last week?",
            "number of pallets picked by RB-04 last week",
            "how many successful picks did RB-04 have last week?",
        ),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE (source = 'PICK_02' OR target = 'PICK_02') AND {FAILED} AND ended {WEEK}",
        (
            "how many tasks failed at PICK_02 this week?",
            "number of failures at PICK_02 this week",
            "this week's failed transports at pick_02, how many?",
        ),
    ),
    Case(
        "SELECT stream, COUNT(*) FROM t WHERE made BETWEEN :wed AND :wed + 86399999 GROUP BY stream ORDER BY 2 DESC, 1",
        (
            "tasks per stream on Wednesday",
            "how many tasks were created by stream on wednesday?",
            "number of transports for each stream last Wednesday",
        ),
    ),
    Case(
        "SELECT COUNT(*) FROM ev WHERE ts BETWEEN :yesterday AND :today - 1",
        (
            "how many events were there yesterday?",
            "number of events recorded yesterday",
            "count the events of yesterday",
        ),
    ),
)
