"""The folder that file tools work in: on disk, and as a copy-on-write view for previews."""

from beforehand.adapters.files.diff import file_diff
from beforehand.adapters.files.overlay import OverlayWorkspace, UnknownContentFault
from beforehand.adapters.files.workspace import DiskWorkspace

__all__ = ["DiskWorkspace", "OverlayWorkspace", "UnknownContentFault", "file_diff"]
