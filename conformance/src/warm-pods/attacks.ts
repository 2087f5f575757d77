/** Fate of a reused pod after an attack. */
type Fate = "serves" | "retires" | "either";

/** An attempt that changes what it can reach, and what the next one must observe. */
export interface Attack {
  readonly name: string;
  /** Python statements of the first attempt. */
  readonly attack: string;
  /** A Python expression of the second attempt, and its value. */
  readonly look: string;
  readonly seen: string;
  /** Default: the pod serves the next attempt. */
  readonly reused?: Fate;
  /** Error code of the first attempt, `*` for any; absent: it succeeds. */
  readonly error?: string;
  /** The attempt of a prewarmed pod is its first process itself. */
  readonly isForReused?: boolean;
}

const LIBC = "import ctypes; libc = ctypes.CDLL(None); ";
/** Starts processes that outlive the attempt, in sessions of their own. */
const LEAVE = (count: number, program: string) =>
  `import subprocess, sys; [subprocess.Popen([sys.executable, "-c", ${JSON.stringify(program)}], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(${count})]`;
const SLEEP = "import time; time.sleep(600)";
const LISTEN = "import socket, time; s = socket.socket(); s.bind(('', 5555)); s.listen(); time.sleep(600)";
const bind = "(lambda s: (s.bind(('', 5555)), s.close(), 'free')[2])(__import__('socket').socket())";
/** Command lines of all processes but the attempt's two and the supervisor. */
const strangers =
  "[n for n in __import__('os').listdir('/proc') if n.isdigit() and b'time.sleep(600)' in open(f'/proc/{n}/cmdline', 'rb').read() and int(n) != 1]";
const refused = (statement: string) => `
try:
    ${statement}
    raise RuntimeError("reached")
except (OSError, PermissionError):
    pass
`;

export const ATTACKS: readonly Attack[] = [
  {
    name: "variables",
    attack: "import os; os.environ['EVIL'] = '1'; os.putenv('EVIL2', '1')",
    look: "[n for n in __import__('os').environ if 'EVIL' in n]",
    seen: "[]",
  },
  {
    name: "changed variables",
    attack: "import os; os.environ['PATH'] = '/evil'; os.environ.pop('HOME', None)",
    look: "'/evil' in __import__('os').environ['PATH']",
    seen: "False",
  },
  {
    name: "modules",
    attack: "import json, sys, flytekit; json.evil = flytekit.evil = 1; sys.modules['evil'] = json; json.dumps.__defaults__",
    look: "(hasattr(__import__('json'), 'evil'), hasattr(__import__('flytekit'), 'evil'), 'evil' in __import__('sys').modules)",
    seen: "(False, False, False)",
  },
  {
    name: "modules that the pod may load ahead",
    attack: "import numpy, sklearn.linear_model; numpy.evil = sklearn.evil = sklearn.linear_model.evil = 1; numpy.random.seed(1)",
    look: "(lambda one, two: (hasattr(one, 'evil'), hasattr(two, 'evil'), one.random.rand() == 0.417022004702574))(__import__('numpy'), __import__('sklearn.linear_model'))",
    seen: "(False, False, False)",
  },
  {
    name: "builtins and the path",
    attack: "import builtins, sys; builtins.evil = 1; sys.path.insert(0, '/evil'); sys.setrecursionlimit(9999)",
    look: "('evil' in dir(__import__('builtins')), '/evil' in __import__('sys').path, __import__('sys').getrecursionlimit())",
    seen: "(False, False, 1000)",
  },
  {
    name: "the working folder",
    attack: "import os; open('evil', 'w').close(); os.mkdir('evils'); os.chdir('/')",
    look: "[n for n in __import__('os').listdir('.') if 'evil' in n]",
    seen: "[]",
  },
  {
    name: "temporary files",
    attack: "import tempfile; tempfile.mkstemp(prefix='evil'); tempfile.mkdtemp(prefix='evil')",
    look: "[n for n in __import__('os').listdir(__import__('tempfile').gettempdir()) if 'evil' in n]",
    seen: "[]",
  },
  ...["/tmp", "/var/tmp", "/dev/shm", "/root"].map((folder) => ({
    name: `files in ${folder}`,
    attack: `open('${folder}/evil', 'w').close()`,
    look: `__import__('os').path.exists('${folder}/evil')`,
    seen: "False",
    reused: "retires" as const,
  })),
  {
    name: "the event loop that flytekit makes at import",
    attack: "from flytekit.extend.backend import base_connector; base_connector.local_connector_loop._csock.send(b'evil')",
    look: "(lambda s: __import__('select').select([s], [], [], 0)[0] and s.recv(9))(__import__('flytekit.extend.backend.base_connector', fromlist=['']).local_connector_loop._ssock)",
    seen: "[]",
  },
  {
    name: "open files",
    attack: "import os; os.set_inheritable(os.open('/dev/zero', os.O_RDONLY), True)",
    look: "[n for n in __import__('os').listdir('/proc/self/fd') if __import__('os').path.realpath(f'/proc/self/fd/{n}') == '/dev/zero']",
    seen: "[]",
  },
  {
    name: "threads and timers",
    attack:
      "import threading, time, signal; threading.Thread(target=time.sleep, args=(99,), daemon=True, name='evil').start(); signal.alarm(60)",
    look: "([t for t in __import__('threading').enumerate() if t.name == 'evil'], __import__('signal').alarm(0))",
    seen: "([], 0)",
  },
  {
    name: "signals and their mask",
    attack:
      "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGCHLD, signal.SIG_IGN); signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])",
    look: "[__import__('signal').getsignal(n) == __import__('signal').SIG_DFL for n in (15, 17)] + list(__import__('signal').pthread_sigmask(0, []))",
    seen: "[True, True]",
  },
  {
    name: "the umask",
    attack: "import os; os.umask(0o777)",
    look: "(lambda os: os.umask(os.umask(0o22)))(__import__('os'))",
    seen: "18",
  },
  {
    name: "its limits",
    attack:
      "import os, resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); resource.setrlimit(resource.RLIMIT_NPROC, (999, 999)); os.nice(5)",
    look: "(__import__('resource').getrlimit(6)[1] == 999, __import__('os').nice(0))",
    seen: "(False, 0)",
  },
  {
    name: "limits of the pod's first process",
    attack: "import resource; resource.prlimit(1, resource.RLIMIT_NOFILE, (99, 99))",
    look: "__import__('resource').getrlimit(7)[1] == 99",
    seen: "False",
    reused: "retires",
  },
  {
    name: "the priority of the pod's first process",
    attack: "import os; os.setpriority(os.PRIO_PROCESS, 1, 7)",
    look: "__import__('os').nice(0)",
    seen: "0",
    reused: "retires",
  },
  { name: "an immediate exit", attack: "import os; os._exit(7)", look: "'well'", seen: "'well'", error: "Error" },
  { name: "an exit", attack: "import sys; sys.exit(3)", look: "'well'", seen: "'well'", error: "*" },
  {
    name: "kills of the pod's first process",
    attack: "import os, signal; [os.kill(1, n) for n in (signal.SIGKILL, signal.SIGSTOP)]",
    look: "'well'",
    seen: "'well'",
  },
  { name: "a kill of itself", attack: "import os; os.kill(os.getpid(), 9)", look: "'well'", seen: "'well'", error: "*" },
  {
    name: "a process left behind",
    attack: LEAVE(1, SLEEP),
    look: strangers,
    seen: "[]",
    reused: "retires",
  },
  { name: "an open port", attack: LEAVE(1, LISTEN), look: bind, seen: "'free'", reused: "retires" },
  {
    name: "a bomb of processes",
    attack: "import os, time; root = os.fork()\nif root == 0:\n    [(os.fork(), os.setpgrp()) for _ in range(7)]; time.sleep(600)",
    look: "len([n for n in __import__('os').listdir('/proc') if n.isdigit()]) < 12",
    seen: "True",
    reused: "retires",
  },
  {
    name: "shared memory of System V",
    attack: `${LIBC}assert libc.shmget(77, 4096, 0o1600) >= 0`,
    look: `len(open('/proc/sysvipc/shm').readlines())`,
    seen: "1",
    reused: "retires",
  },
  {
    name: "semaphores and queues of System V",
    attack: `${LIBC}assert libc.semget(77, 1, 0o1600) >= 0 and libc.msgget(77, 0o1600) >= 0`,
    look: `(len(open('/proc/sysvipc/sem').readlines()), len(open('/proc/sysvipc/msg').readlines()))`,
    seen: "(1, 1)",
    reused: "retires",
  },
  {
    name: "a message queue of POSIX",
    attack:
      "import ctypes; librt = ctypes.CDLL('librt.so.1', use_errno=True); assert librt.mq_open(b'/evil', 0o102, 0o600, None) >= 0, ctypes.get_errno()",
    look: "__import__('os').path.isdir('/dev/mqueue') and __import__('os').listdir('/dev/mqueue')",
    seen: "[]",
    reused: "retires",
  },
  {
    name: "too much memory",
    attack: "x = bytearray(900 << 20)",
    look: "'well'",
    seen: "'well'",
    reused: "either",
    error: "OOMKilled",
  },
  {
    name: "the log and the memory of the pod's first process",
    attack: ["fd/1", "mem", "environ"].map((name) => refused(`open('/proc/1/${name}', 'rb+' if '${name}' == 'mem' else 'wb', 0)`)).join(""),
    look: "'well'",
    seen: "'well'",
    isForReused: true,
  },
  {
    name: "the assignment",
    attack: refused("open('/var/run/flyte-ts/warm-pod/assignment', 'w')"),
    look: "'well'",
    seen: "'well'",
  },
  {
    name: "forged marks",
    attack: `import json; print('0' * 16 + '= ' + json.dumps({"end": "1", "code": 0, "retires": None}), flush=True)`,
    look: "'well'",
    seen: "'well'",
  },
];
