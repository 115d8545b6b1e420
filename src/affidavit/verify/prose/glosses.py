"""What a word of a report may stand for in a technical text, one way: a "backlog" is `messages`.

The specific may be called by the general, a thing by what it does, an event by the state that it
leaves. Never the other way round, and never a word by its opposite. General to any system.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from affidavit.verify.statements.words import stem

_LINES: Final = """
backlog = queue queued messages lag pending depth waiting unacked
consumer consumers = consume subscriber group reader worker client
producer producers = produce publisher writer client
provider providers vendor = provider vendor external upstream psp partner third
publish published publishes = publish produced produce in sent
acknowledge acknowledged = ack acked acks
broker brokers = broker kafka rabbitmq mqtt coordinator
server servers = server host node instance upstream listener backend machine peer
machine machines = host node instance server vm
host hosts = host node instance server machine
node nodes = node host instance server broker member
client clients = client caller consumer session connection
caller callers = client caller consumer waiting request
service services = service app deployment server
application app apps = app application service deployment
component components = service component app module
website site = site host domain url
address addresses = ip addr address host endpoint target destination
target targets = target endpoint upstream backend destination
backend backends = upstream backend target server member
upstream upstreams = upstream backend server host
peer peers = peer neighbor neighbour remote member
neighbor neighbors neighbour neighbours = neighbor neighbour peer bgp
session sessions = session connection client pid conn
connection connections = conn connection session client socket
lookup lookups = query resolve dns lookup read get
query queries = query search statement select sql request lookup
search searches = search query request lookup
statement statements = query sql statement
request requests = request req call query hit get post calls http
call calls = call request invoke rpc
response responses = response status code answer reply
reply replies = response answer reply
job jobs = job task cron batch pipeline run
task tasks = task job stage step
step steps = task step stage
batch batches = batch records bulk job
pipeline pipelines = pipeline build job
build builds = build pipeline job
run runs = run job execution task
worker workers = worker runner consumer pod executor
runner runners = runner worker agent executor
pod pods = pod replica container
replica replicas = replica pod standby copy instance
container containers = container pod docker
volume volumes = volume vol disk pvc pv lun
disk disks = disk volume filesystem mount storage
partition partitions = partition shard topic
shard shards = shard partition index
table tables = table relation index
row rows = row record entry count tuple
record records = record row entry message event
entry entries = entry row record line
device devices = device meter sensor client host
meter meters = meter device
user users = user account login customer
account accounts = account user
certificate certificates cert certs = cert certificate tls ssl x509 issuer
breaker breakers = breaker circuit
tunnel tunnels = tunnel vpn ipsec
route routes prefix prefixes = route prefix pfx network
port ports = port interface
interface interfaces = interface port link ethernet eth
switch switches = switch device sw
router routers = router device
cache caches = cache redis memcached hit miss
kernel = kernel linux system
process processes = process pid proc command
thread threads = thread worker
lock locks = lock blocked mutex wait
transaction transactions = transaction xact txn
deployment deployments deploy deployed deploys = deploy rollout release revision image version
release releases released = release deploy version revision rollout
rollout rollouts = rollout deploy release canary
version versions = version revision image tag release
revision revisions = revision version rev
change changes changed = change update modify edit diff set
configuration config configured = config configuration setting setup parameter
setting settings = setting config parameter value
image images = image tag
flag flags = flag feature toggle
feature = feature flag
memory = mem memory ram heap rss oom bytes
heap = heap memory jvm
storage = disk volume storage bytes space ephemeral filesystem
space = disk space free avail size
load = load cpu busy
latency latencies = latency duration time seconds ms delay elapsed response
duration durations = duration elapsed time seconds took ms
delay delays delayed = delay lag latency late wait
lag lags = lag behind delay
rate rates = rate ratio per percent share
throughput = rate throughput bytes ops rps
traffic = traffic requests bytes count rate throughput
share = percent ratio share fraction
utilisation utilization usage = usage used util utilization utilisation percent
size sizes = size bytes length
occupy occupied occupies occupying = used size usage total bytes
consume consumes consumed consuming = used usage consumer consume
wait waits waited waiting = wait queued queue pending blocked idle
queued = queue queued pending waiting
spend spent spends = duration time took ms elapsed seconds
last lasts lasted = duration elapsed time
take takes took taken = duration elapsed time ms seconds took
start starts started starting begin begins began = start started begin created launch at first active since
end ends ended ending finish finishes finished complete completed = end finish complete done
stop stops stopped = stop exit terminate end kill halt down fatal
exit exits exited = exit terminate status code
die dies died = kill exit terminate die dead crash
kill kills killed = kill oom terminate sigkill signal
crash crashes crashed crashing = crash loop back off panic fatal exit core segfault
restart restarts restarted = restart start reboot restarts
fail fails failed failing failure failures = fail error unavailable exception fatal refuse reject timeout timed
error errors = error fail exception err fatal warn
exception exceptions = exception error caused throw
timeout timeouts = timeout timed deadline time expired
time timed = timeout time deadline
abort aborts aborted = abort fail cancel failed received
cancel cancels cancelled canceled = cancel abort
refuse refuses refused = refuse reject deny forbid connection 403
reject rejects rejected = reject refuse deny
deny denies denied = deny forbid reject refuse
turn turned turns away = reject refuse change flip switch state
decline declines declined = reject deny
throttle throttles throttled throttling = throttle 429 rate limit too many
limit limits limited = limit max maximum quota cap threshold
maximum = max limit maximum
threshold thresholds = threshold limit max crit warn
quota quotas = quota limit
exceed exceeds exceeded exceeding = exceed over above limit more larger
trip trips tripped = trip break open
expire expires expired expiry = expire expired after notafter valid
resolve resolves resolved = resolve answer address a
answer answers answered = answer respond response status reply returned
respond responds responded = respond response answer reply
reach reaches reached reachable = reach connect route respond
unreachable = unreachable no timed timeout loss host fail route
offline = offline disconnect down lost
disconnect disconnected = disconnect lost close down
online = online up connected
lose loses lost loss = loss lose lost drop down miss fail gone
drop drops dropped = drop lost loss fall discard evict
miss misses missed missing = miss absent such not found none lost null lack without
lack lacks lacking = missing no without none out
absent = missing none not null
available = available avail free ready up
unavailable = unavailable down fail no refuse 503
healthy = healthy ok passing up ready
unhealthy = unhealthy fail critical down degraded not
full = full exhausted 100 space nospace no
empty = empty none zero no blank null
fill fills filled filling = full used grow messages size pending
grow grows grew grown = increase grow rise up larger
shrink = shrink decrease smaller
remove removes removed removing = remove delete drop minus
delete deletes deleted = delete remove drop
add adds added = add create plus insert new
create creates created = create add new make
send sends sent = send sent publish deliver post out transmit
receive receives received = receive get got recv in accept accepted response prefix pfx rcd
deliver delivers delivered = deliver send sent
read reads = read select get fetch
write writes wrote written = write insert put
print prints printed = print log line
load loads loaded loading = load read loading
fetch fetches fetched = fetch get read pull
pull pulls pulled pulling = pull image fetch
push pushes pushed = push
store stored stores = store disk table write
hold holds held = hold lock used size messages count rss has
carry carries carried = has hold
own owns owned = owner own by holder controller
assign assigned assigns = assign consumer owner scheduled to host client
attach attached = attach mount bind
bind bound = bind
schedule scheduled = schedule assigned cron
allow allows allowed = allow permit accept enable
permit permits permitted = allow permit
enable enabled = enable on true
disable disabled = disable off false
switch switched switches = switch from to change set on off toggle
activate activated = activate active enabled
active = active running use busy
inactive = idle inactive
busy = busy active running used use
idle = idle inactive
evict evicts evicted = evict
forward forwards forwarded = forward proxy route upstream
serve serves served serving = serve answer a response 200 upstream host
route routed = route forward
redirect redirects redirected = redirect 301 302 location
limit-rate = limit
retry retries retried = retry attempt again retries
attempt attempts attempted try tries tried = attempt try retry connect rate count ping sent
ping pings pinged = ping icmp
probe probes probed = probe check health ping
check checks = check probe health
poll polls polled = poll
sample samples sampled = sample
commit commits committed = commit sha revision
merge merged = merge
revert reverted = revert rollback
mount mounts mounted = mount volume
allocate allocated = allocate used total
estimate estimated = estimated approx
reserve reserved = reserved request
happen happens happened occur occurs occurred = at error event
trigger triggered triggers = trigger fire alert
fire fired fires firing = firing alert start
alert alerts alerted = alert alarm warning monitor
incident incidents = incident event outage issue
page = page site url
chain = caused exception chain by
message = message msg text reason
reason reasons = reason because message cause code error
code codes = code status exit
status = status state code condition
state states = state status condition phase
phase = phase state status
condition conditions = condition type status
level levels = level
owner = owner by
author = author by user
person people = by user owner
team = team owner
operator = operator user by
second seconds = second s sec
minute minutes = minute min m
hour hours = hour h
hourly = hour 1h
daily nightly = day date nightly
day days = day d date
evening night morning = time hour night nightly
anonymous = anon
average averaged averages mean = avg average mean
median = median p50
total totals = total sum count all
number numbers = number count num total
count counts counted = count total number
inventory = list
directory directories = dir path
folder = dir path
file files = file path
path paths = path url uri route
endpoint endpoints = endpoint path url route
domain domains = domain host zone dns
name names = name host dns a
key keys = key id kid
token tokens = token jwt bearer
secret secrets = secret
login logins = login auth user
rebalance rebalanced rebalances = rebalance
battery = battery bbu
controller controllers = controller ctrl
array = array storage san
sensor sensors = sensor device
firmware = firmware version fw
kernel's = kernel
write-back = cache back
window = window start end
canary = canary
stable = stable
weight = weight percent
"""


def _read() -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _LINES.strip().splitlines():
        words, meant = line.split(" = ")
        stems = frozenset(map(stem, meant.split()))
        for word in words.split():
            key = stem(word)
            found[key] = found.get(key, frozenset()) | stems
    return MappingProxyType(found)


GLOSSES: Final = _read()
"""The stems that a word's stem may be found as."""
ANTONYMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "offline": "online", "down": "up", "stopped": "running", "idle": "busy", "absent": "present",
        "disabled": "enabled", "closed": "open", "inactive": "active", "unavailable": "available",
        "unhealthy": "healthy", "unreachable": "reachable", "disconnected": "connected",
        "free": "busy", "missing": "present", "false": "true", "off": "on",
    }
)  # fmt: skip
"""Words that a record says by denying their opposite: `online: false` is offline."""
