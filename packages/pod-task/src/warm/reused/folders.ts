/**
 * Python class of the folders that attempts use one after the other: two that each attempt finds in
 * the same state, and the others in which attempts could leave files.
 */
export const ATTEMPT_FOLDERS = `MAX_ENTRIES = 20000


class Folders:
    """The working folder and the folder for temporary files, which each attempt finds in the same state, and the other folders in which attempts leave files."""

    def __init__(self, directory, base, shared):
        self.base = os.path.join(base, "flyte-" + os.urandom(8).hex())
        self.work, self.temporary = os.path.join(self.base, "work"), os.path.join(self.base, "tmp")
        self.links = {entry: os.path.join(directory, entry) for entry in (os.listdir(directory) if directory != "/" else ())}
        self.watched = [path for path in dict.fromkeys([*shared, directory, os.path.expanduser("~")]) if path != "/"]
        os.mkdir(self.base, 0o755)
        for folder in (self.work, self.temporary):
            os.mkdir(folder, 0o755)
        for name, target in self.links.items():
            os.symlink(target, os.path.join(self.work, name))
        self.kept = {}

    def keep(self):
        """Notes what the import has created: attempts find it too."""
        self.kept = {path: self.content(path) for path in self.below(self.base)}
        self.seen = self.state()

    @staticmethod
    def content(path):
        if os.path.islink(path):
            return os.readlink(path)
        if os.path.isdir(path):
            return None
        with open(path, "rb") as file:
            return file.read()

    @staticmethod
    def below(folder):
        for parent, folders, files in os.walk(folder):
            for name in (*folders, *files):
                yield os.path.join(parent, name)

    def reset(self):
        """Gives both folders their first state."""
        shutil.rmtree(self.base, ignore_errors=True)
        if os.path.lexists(self.base):
            return False
        for folder in (self.base, self.work, self.temporary):
            os.mkdir(folder, 0o755)
        for path, content in self.kept.items():
            if os.path.lexists(path):
                continue
            if content is None:
                os.mkdir(path)
            elif isinstance(content, str):
                os.symlink(content, path)
            else:
                with open(path, "wb") as file:
                    file.write(content)
        return True

    def state(self):
        """Stamps of all other files; None when there are too many to look at."""
        found = {}
        waiting = list(self.watched)
        while waiting:
            folder = waiting.pop()
            with contextlib.suppress(OSError):
                for entry in os.scandir(folder):
                    if entry.path == self.base or entry.path in found:
                        continue
                    status = entry.stat(follow_symlinks=False)
                    is_folder = stat.S_ISDIR(status.st_mode)
                    found[entry.path] = (status.st_mode, status.st_ino, status.st_uid, *(() if is_folder else (status.st_size, status.st_mtime_ns)))
                    if len(found) > MAX_ENTRIES:
                        return None
                    if is_folder:
                        waiting.append(entry.path)
        return found

    def change(self):
        now = self.state()
        if now is None or self.seen is None:
            return "too many files to look at"
        self.remove_compiled(now)
        changed = sorted(path for path in {*now, *self.seen} if now.get(path) != self.seen.get(path))
        return f"the attempt left or changed {changed[0]}" if changed else None

    def remove_compiled(self, now):
        """Removes compiled modules that appeared beside those of the image: Python writes them, and an attempt may forge them."""
        for path in [path for path in now if path not in self.seen and "__pycache__" in path.split(os.sep)]:
            with contextlib.suppress(OSError):
                if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path)
                else:
                    os.unlink(path)
            if not os.path.lexists(path):
                del now[path]
`;
