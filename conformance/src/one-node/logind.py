"""As much of systemd-logind as kubelet needs to learn that its machine goes down: `true` and `false` on the input say so.

usage: logind.py SOCKET   (Debian's python3-dbus, python3-gi and dbus)
"""

import os
import subprocess
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

MANAGER = "org.freedesktop.login1.Manager"


class Logind(dbus.service.Object):
    @dbus.service.method("org.freedesktop.DBus.Properties", in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return dbus.UInt64(60_000_000) if name == "InhibitDelayMaxUSec" else dbus.String("")

    @dbus.service.method(MANAGER, in_signature="ssss", out_signature="h")
    def Inhibit(self, what, who, why, mode):
        reader, _ = os.pipe()
        return dbus.types.UnixFd(reader)

    @dbus.service.signal(MANAGER, signature="b")
    def PrepareForShutdown(self, begins):
        pass


address = f"unix:path={sys.argv[1]}"
bus_daemon = subprocess.Popen(
    ["dbus-daemon", "--session", f"--address={address}", "--nofork", "--nopidfile", "--print-address"], stdout=subprocess.PIPE
)
bus_daemon.stdout.readline()
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(address)
name = dbus.service.BusName("org.freedesktop.login1", bus)
logind = Logind(bus, "/org/freedesktop/login1")
loop = GLib.MainLoop()


def heard(source, _):
    line = source.readline()
    if line == "":
        loop.quit()
        return False
    logind.PrepareForShutdown(line.strip() == "true")
    return True


GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, heard)
print("ready", flush=True)
try:
    loop.run()
finally:
    bus_daemon.terminate()
