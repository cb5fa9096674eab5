"""More questions about the month, as people on the floor ask them: in another language's grammar, short, with slips."""

from tests.scenarios.question_cases import (
    DAY,
    DONE,
    FAILED,
    HOUR,
    LAST_WEEK,
    NOVEMBER,
    TODAY,
    WAITING,
    WEEK,
    YESTERDAY,
    Case,
    top,
)

DRIVING = "phase IN ('moving_to_pick', 'moving_to_drop', 'parking')"
MORNING = "BETWEEN :today AND :now - 1"
FRIDAY = "BETWEEN :before AND :yesterday - 1"
OPEN = "status IN ('created', 'active', 'held', 'stale')"


def share(what: str, table: str, where: str, by: str) -> str:
    of = f"SUM({what}), COUNT(*)"
    return f"SELECT {by}, ROUND(100.0 * SUM({what}) / COUNT(*), 1), {of} FROM {table} WHERE {where} GROUP BY 1"


SPOKEN = (
    Case(
        f"SELECT COUNT(*) FROM t WHERE {FAILED} AND ended {YESTERDAY}",
        ("how much tasks failed yesterday", "how many task faild yesteday?", "how much task are failed yesterday"),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE {FAILED}",
        ("how many tasks failed in total?", "total failures", "total number of failed tasks so far"),
    ),
    Case(
        top("TOTAL(took)", "s", f"{DRIVING} AND began {YESTERDAY}", "robot"),
        (
            "which forklift drove most yesterday",
            "which robot drives the longest yesterday?",
            "what truck spent the most time driving yesterday",
        ),
    ),
    Case(
        top("COUNT(*)", "s", f"phase = 'charging' AND began {WEEK}", "robot"),
        (
            "which robot charged most often this week",
            "which robot charges most frequently this week?",
            "the robot that charged most times this week",
        ),
    ),
    Case(
        f"SELECT robot, TOTAL(took) FROM s WHERE phase = 'idle' AND began {YESTERDAY} GROUP BY 1 ORDER BY 2 DESC",
        (
            "idle time per robot yesterday",
            "how long was each robot idle yesterday",
            "how many hours were robots idle yesterday per robot?",
        ),
    ),
    Case(
        f"SELECT robot, AVG(took) FROM s WHERE {WAITING} AND began {WEEK} GROUP BY 1 ORDER BY 2 DESC",
        (
            "average wait per robot this week",
            "average wait time of each robot this week",
            "mean waiting time by forklift this week",
        ),
    ),
    Case(
        f"SELECT TOTAL(took) FROM s WHERE {DRIVING} AND robot = 'RB-01' AND began {WEEK}",
        (
            "how many hours did RB-01 drive this week",
            "how long drove RB-01 this week?",
            "how much time was rb1 driving this week",
        ),
    ),
    Case(
        "SELECT robot, 1 FROM s WHERE phase = 'charging' AND took IS NULL ORDER BY 1",
        ("which robot is charging", "which robots are charging now?", "what forklifts are charging at the moment"),
    ),
    Case(
        "SELECT COUNT(DISTINCT robot) FROM s WHERE phase = 'charging' AND took IS NULL",
        ("how many robots are charging", "how many robots are charging now?", "number of forklifts charging right now"),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE {OPEN}",
        ("how many tasks are there right now", "how many tasks are still open?", "number of tasks now"),
    ),
    Case(
        "SELECT COUNT(*) FROM t WHERE status = 'active'",
        ("how many tasks are running", "how many tasks are running now?", "count tasks in progress"),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE status IN ('failed', 'canceled') AND ended {YESTERDAY}",
        (
            "how many tasks failed or were cancelled yesterday",
            "number of failed and cancelled tasks yesterday",
            "count failed or canceled transports yesterday",
        ),
    ),
    Case(
        f"SELECT COUNT(*) FROM h WHERE NOT ok AND at {YESTERDAY}",
        (
            "how many picks and drops failed yesterday",
            "how many failed picks or drops yesterday?",
            "number of failed drops and picks yesterday",
        ),
    ),
    Case(
        f"SELECT COUNT(*) FROM h WHERE what = 'drop' AND ok AND at {YESTERDAY}",
        (
            "how many pallets were moved yesterday",
            "how many pallets did we move yesterday?",
            "number of pallets delivered yesterday",
        ),
    ),
    Case(
        top("COUNT(*)", "h", "NOT ok", "place", size=3),
        ("top 3 worksites by failures", "top three places with most failures", "the top 3 stations by failures"),
    ),
    Case(
        top("COUNT(*)", "h", f"what = 'pick' AND NOT ok AND at {NOVEMBER}", "place"),
        (
            "where did most picks fail this month",
            "where do picks fail most often in November?",
            "worksite with the most failed picks this month",
        ),
    ),
    Case(
        f"SELECT place, COUNT(*) FROM h WHERE what = 'pick' AND NOT ok AND at {YESTERDAY}"
        " GROUP BY 1 ORDER BY 2 DESC, 1",
        (
            "where did picks fail yesterday",
            "failed picks per place yesterday",
            "show me failed picks by worksite yesterday",
        ),
    ),
    Case(
        top("COUNT(*)", "t", f"{FAILED} AND ended {WEEK}", "robot"),
        (
            "robot with most failures this week",
            "the robot with the most failed tasks this week",
            "forklift that had most failures this week",
        ),
    ),
    Case(
        top("COUNT(*)", "t", f"{FAILED} AND ended {LAST_WEEK}", "stream"),
        (
            "which stream failed most last week",
            "stream with most failures last week",
            "what flow failed most last week",
        ),
    ),
    Case(
        top("COUNT(*)", "t", f"{FAILED} AND ended {NOVEMBER}", "code"),
        (
            "most common reason of failures this month",
            "most common failure reason this month?",
            "what is the most frequent error of failed tasks in November",
        ),
    ),
    Case(
        f"SELECT task FROM t WHERE made {YESTERDAY} ORDER BY took DESC LIMIT 5",
        ("the 5 longest tasks yesterday", "longest 5 tasks yesterday", "show me the five slowest tasks of yesterday"),
        "first",
    ),
    Case(
        f"SELECT task FROM t WHERE made {YESTERDAY} ORDER BY took DESC LIMIT 1",
        ("longest task yesterday", "which task was slowest yesterday", "the slowest transport yesterday"),
        "first",
    ),
    Case(
        f"SELECT task FROM t WHERE {FAILED} ORDER BY ended DESC LIMIT 1",
        ("last failed task", "the last failure", "show me the latest failed transport"),
        "first",
    ),
    Case(
        f"SELECT task FROM t WHERE made {TODAY} ORDER BY made LIMIT 1",
        ("first task today", "the first transport of today", "show the first task today"),
        "first",
    ),
    Case(
        f"SELECT task, status, error FROM t WHERE {FAILED} ORDER BY ended DESC LIMIT 1",
        ("why did the last task fail", "why the last transport failed?", "what caused the last failure"),
    ),
    Case(
        "SELECT task FROM t WHERE task = 'hall-t13'",
        ("what happened to task t13", "what happend with task 13?", "status of t13"),
        "first",
    ),
    Case(
        "SELECT task, status, 'nothing is written down as an error' FROM t WHERE task = 'hall-t5'",
        ("why did task 5 fail", "why t5 failed?", "how come task 5 failed"),
    ),
    Case(
        "SELECT wait FROM t WHERE task = 'hall-t13'",
        ("how long did t13 wait", "wait of task t13 on average", "how long waited task 13?"),
    ),
    Case(
        "SELECT took FROM t WHERE task = 'hall-t13'",
        ("how long did task t13 take", "how long took t13?", "duration of task 13 on average"),
    ),
    Case(
        "SELECT strftime('%Y-%m-%dT%H:%M:%S.000Z', ended / 1000, 'unixepoch') FROM t WHERE task = 'hall-t13'",
        ("when did task t13 end", "when was t13 finished?", "when was task 13 completed"),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE {FAILED} AND ended {MORNING}",
        ("how many tasks failed this morning", "failures this morning: how many?", "how much failures this morning"),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE {FAILED} AND ended BETWEEN :before AND :before + 43199999",
        (
            "how many tasks failed on friday morning",
            "number of failures on Friday in the morning",
            "how many tasks failed 2 days ago in the morning",
        ),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE {FAILED} AND ended {FRIDAY}",
        ("how many tasks failed two days ago", "failures 2 days ago, how many", "how much tasks failed on friday"),
    ),
    Case(
        f"SELECT task FROM t WHERE {FAILED} AND ended {FRIDAY} ORDER BY ended DESC LIMIT 10",
        ("failed tasks 2 days ago", "list of failed tasks two days ago", "show failed tasks 2026-11-13"),
        "first",
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE {FAILED} AND ended BETWEEN :lastweek + 5 * 86400000 AND :week - 1",
        (
            "how many tasks failed last weekend",
            "number of failures on the last weekend",
            "how many failures were there last weekend?",
        ),
    ),
    Case(
        "SELECT COUNT(*) FROM t WHERE made BETWEEN :yesterday AND :tomorrow - 1",
        (
            "how many tasks yesterday and today",
            "how many tasks on saturday and sunday?",
            "number of tasks this weekend",
        ),
    ),
    Case(
        f"SELECT ROUND(100.0 * SUM({FAILED}) / COUNT(*), 1), SUM({FAILED}), COUNT(*) FROM t WHERE ended {YESTERDAY}",
        (
            "percentage of failed tasks yesterday",
            "how many percent of tasks failed yesterday",
            "what is the failure rate of tasks yesterday?",
        ),
    ),
    Case(
        f"SELECT ROUND(100.0 * SUM(ok) / COUNT(*), 1), SUM(ok), COUNT(*) FROM h WHERE what = 'pick' AND at {WEEK}",
        (
            "success rate of picks this week",
            "what percent of picks succeeded this week",
            "percentage of successful picks this week",
        ),
    ),
    Case(
        share(FAILED, "t", f"ended {LAST_WEEK}", "robot") + " ORDER BY 4 DESC, 1",
        (
            "failure rate of tasks per robot last week",
            "what share of tasks failed per robot last week?",
            "percentage of failed tasks by forklift last week",
        ),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE took > 480 AND ended {YESTERDAY}",
        (
            "how many tasks took more than 8 min yesterday",
            "how much tasks took over 8 mins yesterday?",
            "number of tasks that took longer than 480 sec yesterday",
        ),
    ),
    Case(
        f"SELECT COUNT(DISTINCT robot) FROM s WHERE {WAITING} AND took > 3600 AND began {YESTERDAY}",
        (
            "how many robots waited more than an hour yesterday",
            "how many robots waited longer than 1 h yesterday",
            "number of different robots that waited over one hour yesterday",
        ),
    ),
    Case(
        "SELECT COUNT(*) FROM d WHERE status = 'open'",
        ("how many decisions are waiting", "how many decisions are still open?", "number of pending decisions"),
    ),
    Case(
        "SELECT COUNT(*) FROM d WHERE status = 'answered' AND by = 'ada'",
        (
            "how many decisions did ada answer",
            "number of decisions answered by Ada",
            "how many decisions were answered by ada?",
        ),
    ),
    Case(
        "SELECT id FROM d WHERE status = 'answered' ORDER BY opened DESC LIMIT 1",
        ("who answered the last decision", "the last answered decision", "show me the latest answered decision"),
        "first",
    ),
    Case(
        f"SELECT {HOUR.format('at')}, COUNT(*) FROM h WHERE what = 'drop' AND ok AND at {YESTERDAY}"
        " GROUP BY 1 ORDER BY 1",
        (
            "pallets dropped per hour yesterday",
            "how many pallets were delivered every hour yesterday",
            "hourly count of pallets moved yesterday",
        ),
        "some",
    ),
    Case(
        f"SELECT {DAY.format('made')}, COUNT(*) FROM t WHERE made {LAST_WEEK} GROUP BY 1 ORDER BY 1",
        ("per day last week tasks", "tasks every day last week", "how many task per day last week?"),
        "some",
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE {DONE} AND stream = 'inbound' AND ended {YESTERDAY}",
        (
            "how many inbound tasks succeeded yesterday",
            "successful inbound transports yesterday, how many?",
            "how much inbound tasks were done yesterday",
        ),
    ),
    Case(
        f"SELECT COUNT(*) FROM t WHERE {FAILED} AND ended BETWEEN :week AND :now",
        ("how many tasks failed since Monday", "how much failures since monday", "since monday how many tasks failed?"),
    ),
    Case(
        f"SELECT {HOUR.format('ended')}, COUNT(DISTINCT robot) FROM t WHERE {DONE} AND ended {YESTERDAY}"
        " GROUP BY 1 ORDER BY 1",
        (
            "how many different robots completed tasks per hour yesterday",
            "number of robots that finished tasks yesterday by hour",
            "yesterday, how many robots completed tasks each hour?",
        ),
        "some",
    ),
    Case(
        top("COUNT(*)", "t", f"made {YESTERDAY}", "robot", size=3),
        (
            "top 3 robots by tasks yesterday",
            "top three forklifts with the most tasks yesterday",
            "the top 3 robots by transports yesterday",
        ),
    ),
    Case(
        top("COUNT(*)", "h", f"what = 'pick' AND at {YESTERDAY}", HOUR.format("at"), "ASC"),
        (
            "which hour yesterday had the fewest picks?",
            "in which hour were the fewest picks yesterday",
            "what hour had the least picks yesterday",
        ),
    ),
)

REFUSED = (
    ("how many tasks per robot per day last week", "split by one thing only"),
    ("how many pallets yesterday", "would be counted more than once; say picked or dropped"),
    ("average number of tasks per day last week", "does not say what of tasks"),
    ("maximum tasks per hour yesterday", "does not say what of tasks"),
    ("how many tasks were created and completed yesterday", "could be about"),
    ("how long has RB-01 been waiting", "until now is not known"),
    ("how many failed tasks are there now", "is over, so it is not so now"),
    ("decisions waiting longer than 5 minutes", "not over yet has no length"),
    ("how many picks failed or were by hand", "'or' between these"),
    ("how many tasks failed last night", "'night'"),
    ("how many tasks in the morning", "'morning'"),
    ("how many failures an hour ago", "'hour', 'ago'"),
    ("which robot changed most yesterday", "'changed' was not understood"),
    ("older tasks", "'older' was not understood"),
    ("tasks that never failed", "'never' was not understood"),
    ("which robot failed most", "could be about tasks or picks"),
    ("failure rate yesterday", "does not say what it is about"),
    ("how many steps did the last run have", "could be about steps or runs"),
    ("average wait of the last task", "Of a single task"),
    ("failed tasks except RB-01", "'except'"),
    ("how many tasks failed yesterday compared to today", "'compared'"),
    ("how many tasks did RB-44 complete yesterday", "'RB-44' was not understood"),
    ("how many picks failed at PICK_011 yesterday", "'PICK_011' was not understood"),
    ("first 0 tasks", "'0' was not understood"),
    ("longest open decision", "not over yet has no length"),
    ("slowest active task", "not over yet has no length"),
    ("average duration of tasks that are running", "not over yet has no length"),
    ("which robot is waiting longest right now", "not over yet has no length"),
    ("have all tasks been completed yesterday?", "'have all' was not understood"),
    ("did every task fail today", "'did every' was not understood"),
    ("how many time was RB-01 idle yesterday", "how much time or how many times"),
    ("where is RB-01 now", "does not say what it is about"),
    ("how many pallets were picked and dropped yesterday", "would be counted more than once; say picked or dropped"),
    ("how many pallets did RB-01 pick and drop yesterday", "would be counted more than once; say picked or dropped"),
    ("how many tasks were open yesterday", "What tasks were like yesterday is not known"),
    ("which decisions were pending last week", "What decisions were like last week is not known"),
)
