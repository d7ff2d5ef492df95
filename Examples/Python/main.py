#!/usr/bin/python3
"""Shows the image of a URL in a window: ./main.py https://example.org/photo.jpg"""
import ctypes
import os
import sys

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, Gtk

halcyon = ctypes.CDLL(os.environ.get("HALCYON_LIBRARY", "libhalcyon-gtk.so"))
LoadCallback = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
halcyon.halcyon_follow_application.argtypes = [ctypes.c_void_p]
halcyon.halcyon_image_view_adopt.argtypes = [ctypes.c_void_p]
halcyon.halcyon_image_view_set_url.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
halcyon.halcyon_image_view_set_load_callback.argtypes = [
    ctypes.c_void_p, LoadCallback, ctypes.c_void_p, ctypes.c_void_p]


def pointer(gobject):
    """The address of a GObject, which is its hash in PyGObject."""
    return hash(gobject)


def activate(application):
    window = Gtk.ApplicationWindow(application=application, default_width=640, default_height=480)
    # A widget of Python's own becomes a view, so that no pointer has to become an object.
    picture = Gtk.Picture()
    halcyon.halcyon_image_view_adopt(pointer(picture))
    halcyon.halcyon_image_view_set_load_callback(pointer(picture), loaded, None, None)
    halcyon.halcyon_image_view_set_url(pointer(picture), sys.argv[1].encode())
    window.set_child(picture)
    window.present()


@LoadCallback
def loaded(view, width, height, error, data):
    print(error.decode() if error else f"{width} x {height}", flush=True)


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} URL")
    application = Gtk.Application(application_id="org.example.ShowImage", flags=Gio.ApplicationFlags.NON_UNIQUE)
    halcyon.halcyon_follow_application(pointer(application))
    application.connect("activate", activate)
    return application.run([sys.argv[0]])


sys.exit(main())
