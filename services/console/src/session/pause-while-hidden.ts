/** A hidden page gives its connection back after this time; browsers allow six. */
const HIDDEN_MS = 20_000;

/** Calls `pause` when the page has been hidden for a while, and `resume` when it is seen again. */
export function pauseWhileHidden(pause: () => void, resume: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isPaused = false;
  const changed = (): void => {
    clearTimeout(timer);
    if (document.hidden) {
      timer = setTimeout(() => {
        isPaused = true;
        pause();
      }, HIDDEN_MS);
    } else if (isPaused) {
      isPaused = false;
      resume();
    }
  };
  document.addEventListener("visibilitychange", changed);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", changed);
  };
}
