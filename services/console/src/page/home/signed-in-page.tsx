import { useEffect } from "react";
import { Empty } from "../../control/error-panel.js";
import { SESSION_CHANNEL } from "../../session/session.js";

/** End of a sign-in: tells the other windows, and closes the window that was opened for it. */
export function SignedInPage() {
  useEffect(() => {
    const channel = new BroadcastChannel(SESSION_CHANNEL);
    channel.postMessage("signed in");
    channel.close();
    window.close();
  }, []);
  return (
    <Empty title="You are signed in">
      <p>Close this window and go on in the other one.</p>
    </Empty>
  );
}
