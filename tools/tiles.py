#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the part of a launch line that detects objects in tiles of a frame.

    gst-launch-1.0 filesrc location=video.mkv ! decodebin ! videoconvert ! \\
      $(tools/tiles.py --frame 1920x1080 --tile 640x640 --overlap 64 --detector "$DETECTOR") \\
      merged. ! nmsfilter ! boxoverlay ! videoconvert ! autovideosink

The tiles are those of boxmerge's property tiles. --tile is the largest size of a tile; the grid
gets as few tiles as that allows, and they get the smallest size that covers the frame.
"""
import argparse
import sys

QUEUE = "queue max-size-buffers=60 max-size-bytes=0 max-size-time=0"


def size_of(text):
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal() and int(width) and int(height)):
        raise argparse.ArgumentTypeError("%r is not WIDTHxHEIGHT" % text)
    return int(width), int(height)


def tiles_along(size, longest, overlap):
    """Returns the number of tiles of at most `longest` pixels that cover `size` pixels."""
    if longest >= size:
        return 1
    if overlap + 2 > longest:
        sys.exit("tiles.py: the overlap has to be smaller than a tile")
    count = 2
    while places_along(size, count, overlap)[0][1] > longest:
        count += 1
    return count


def places_along(size, count, overlap):
    """Returns (start, length) of each tile, as merge_tiles_rect of boxmerge computes them."""
    tile = -(-(size + (count - 1) * overlap) // count)
    tile = min(tile + tile % 2, size)
    if overlap >= tile:
        sys.exit("tiles.py: the overlap has to be smaller than a tile")
    last = size - tile
    starts = [i * last // (count - 1) & ~1 for i in range(count - 1)] + [last]
    return [(start, tile) for start in starts]


def launch_line(arguments):
    width, height = arguments.frame
    columns, rows = arguments.grid or (
        tiles_along(width, arguments.tile[0], arguments.overlap),
        tiles_along(height, arguments.tile[1], arguments.overlap))
    grid = "%dx%d+%d" % (columns, rows, arguments.overlap)
    scale = ("videoscale ! video/x-raw,width=%d,height=%d ! " % arguments.scale
             if arguments.scale else "")
    merge, branches = "boxmerge name=merged", []
    for y, tile_height in places_along(height, rows, arguments.overlap):
        for x, tile_width in places_along(width, columns, arguments.overlap):
            i = len(branches)
            merge += (" sink_%d::tiles=%s sink_%d::tile-index=%d sink_%d::edge-margin=%s"
                      % (i, grid, i, i, i, arguments.edge_margin))
            branches.append("tiles. ! queue ! videocrop left=%d right=%d top=%d bottom=%d ! %s%s "
                            "! merged.sink_%d" % (x, width - x - tile_width, y,
                                                  height - y - tile_height, scale,
                                                  arguments.detector, i))
    if arguments.whole:
        i = len(branches)
        merge += " sink_%d::width=%d sink_%d::height=%d" % (i, width, i, height)
        branches.append("tiles. ! queue ! %s%s ! merged.sink_%d" % (scale, arguments.detector, i))
    return "\n".join(["tee name=tiles tiles. ! %s ! %s" % (QUEUE, merge)] + branches)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frame", type=size_of, required=True, help="size of the frames, WxH")
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--tile", type=size_of, help="largest size of a tile, WxH")
    size.add_argument("--grid", type=size_of, help="columns and rows, CxR")
    parser.add_argument("--overlap", type=int, default=0, help="pixels (default 0)")
    parser.add_argument("--edge-margin", default="5", help="boxes at most this many pixels or, "
                        "with %%, per cent of the tile away from an inner edge of a tile give way "
                        "to whole ones in nmsfilter; NULL: none (default 5)")
    parser.add_argument("--scale", type=size_of, help="scale each tile to WxH for the detector")
    parser.add_argument("--whole", action="store_true", help="detect in the whole frame too")
    parser.add_argument("--detector", required=True, help="launch line of the detector")
    arguments = parser.parse_args()
    if arguments.overlap < 0:
        parser.error("--overlap is negative")
    print(launch_line(arguments))


if __name__ == "__main__":
    main()
