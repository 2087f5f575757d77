import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { canRunSupervisors, python } from "../toy-flytekit.fixture.js";
import { REUSED_SUPERVISOR } from "./supervisor.js";

const [functions] = REUSED_SUPERVISOR.split(/^class Supervisor/m);

it.skipIf(!canRunSupervisors)("a process that ends while processes are listed is reaped", () => {
  const scenario = `
listed = children

def children():
    # Waits for the end without reaping.
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    return listed()

pid = os.fork()
if pid == 0:
    time.sleep(0.05)
    os._exit(0)
print(end_processes(), os.path.exists(f"/proc/{pid}"))
`;
  const printed = execFileSync(python, ["-c", `${functions}\n${scenario}`], { encoding: "utf8" });
  expect(printed.trim()).toBe("False False");
});
