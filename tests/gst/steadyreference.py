# SPDX-License-Identifier: LGPL-2.1-or-later
"""steadyreference: the definition of boxsteady, slow and in Python, to the bit.

Every operation on coordinates and scores is rounded to binary32. binary64 has more than twice its
bits, so rounding the result of one operation twice gives the bits of one rounding.
"""
import copy
import struct

LEAST = 2.0 ** -50  # an extent of at most this counts as 0
NEAR = 8      # links that a box may be matched with
MOST = 4096   # boxes in a frame, and lost links that are kept


def f32(value):
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def iou(a, b):
    """The IoU of nmscore for valid boxes x1 y1 x2 y2."""
    w = f32(min(a[2], b[2]) - max(a[0], b[0]))
    h = f32(min(a[3], b[3]) - max(a[1], b[1]))
    inter = f32(w * h) if w > LEAST and h > LEAST else 0.0
    if inter <= 0:
        return 0.0
    area = [f32(f32(c[2] - c[0]) * f32(c[3] - c[1])) for c in (a, b)]
    return f32(inter / f32(f32(area[0] + area[1]) - inter))


class Link:
    def __init__(self, box):
        self.last, self.label = box, box.label
        self.of, self.ended = self, False
        self.x, self.y, self.w, self.h = box.form()
        self.vx = self.vy = 0.0
        self.hits, self.missed, self.id, self.scores, self.score = 1, 0, 0, 0, 0.0
        self.take_score(box.score)

    def at(self, number):
        """The link as it is in this frame; `of` is the link that goes on."""
        if self.missed == 0:
            self.seen = number
        return copy.copy(self)

    def track(self):
        return self.of.id if self.last.track is None else self.last.track

    def corners(self):
        w, h = f32(self.w / 2), f32(self.h / 2)
        return f32(self.x - w), f32(self.y - h), f32(self.x + w), f32(self.y + h)

    def predict(self):
        self.x, self.y = f32(self.x + self.vx), f32(self.y + self.vy)

    def take_score(self, score, rule="mean"):
        if score is None or score != score or abs(score) == float("inf"):
            return
        score = f32(score)
        self.scores += 1
        if self.scores == 1:
            self.score = score
        elif rule == "best":
            self.score = max(self.score, score)
        else:
            self.score = f32(self.score + f32(f32(score - self.score) / f32(self.scores)))

    def update(self, box, settings):
        x, y, w, h = box.form()
        past = f32(settings["smoothing"])
        rest = f32(1 - past)
        gain = f32(1 - f32(past * past))
        slope = f32(f32(rest * rest) / f32(self.missed + 1))
        ex, ey = f32(x - self.x), f32(y - self.y)
        self.x, self.y = f32(self.x + f32(gain * ex)), f32(self.y + f32(gain * ey))
        self.vx, self.vy = f32(self.vx + f32(slope * ex)), f32(self.vy + f32(slope * ey))
        self.w = f32(self.w + f32(rest * f32(w - self.w)))
        self.h = f32(self.h + f32(rest * f32(h - self.h)))
        self.hits, self.missed = (self.hits << 1 | 1) & 0xffffffff, 0
        self.last = box
        self.take_score(box.score, settings["score"])


class Box:
    """A box of a frame: corners in pixels, a label, a score or None, a tracker's id or None."""

    def __init__(self, corners, label="", score=None, track=None):
        self.corners = [f32(c) for c in corners]
        self.label, self.score, self.track = label, score, track

    def form(self):
        x1, y1, x2, y2 = self.corners
        return (f32(f32(x1 + x2) / 2), f32(f32(y1 + y2) / 2), f32(x2 - x1), f32(y2 - y1))

    def valid(self):
        x1, y1, x2, y2 = self.corners
        return all(abs(c) <= 1e9 for c in self.corners) and x1 < x2 and y1 < y2


class Steady:
    def __init__(self, width=0, height=0, **settings):
        self.settings = {"iou_threshold": 0.3, "confirm": 2, "window": 3, "hold": 5,
                         "smoothing": 0.6, "score": "mean"} | settings
        self.size = width, height
        self.next_id, self.number = 1, 0
        self.restart()

    def restart(self):
        self.links, self.frames, self.tracks = [], 0, False

    def pairs(self, boxes):
        found = []
        for j, box in enumerate(boxes):
            near = []
            for i, link in enumerate(self.links):
                if self.tracks:
                    overlap = float(box.track is not None and box.track == link.last.track)
                elif link.label == box.label:
                    overlap = iou(link.corners(), box.corners)
                    overlap *= overlap > f32(self.settings["iou_threshold"])
                else:
                    continue
                if overlap > 0:
                    near.append((-overlap, i, j))
            found += sorted(near)[:NEAR]
        return sorted(found)

    def can_hold(self, link):
        """Whether a link without a box in this frame is held if it is confirmed."""
        x1, y1, x2, y2 = link.corners()
        width, height = self.size
        inside = width == 0 or (x1 < width and y1 < height and x2 > 0 and y2 > 0)
        return link.missed <= self.settings["hold"] and inside

    def frame(self, boxes):
        """Links the boxes of a frame. Returns for `leave` the link of each box, or None, the links
        that may be held, and the number of the frame."""
        self.number += 1
        valid = [box for box in boxes if box.valid()]
        if len(boxes) > MOST:
            self.restart()
            return [None] * len(boxes), [], self.number
        if not self.tracks and any(box.track is not None for box in valid):
            self.restart()
            self.tracks = True
        self.frames += 1
        for link in self.links:
            link.predict()
        of_box, taken = {}, set()
        for _, i, j in self.pairs(valid):
            if i not in taken and j not in of_box:
                taken.add(i)
                of_box[j] = self.links[i]
                self.links[i].update(valid[j], self.settings)
        mask = (1 << self.settings["window"]) - 1
        kept = []
        for i, link in enumerate(self.links):
            if i not in taken:
                link.hits = link.hits << 1 & 0xffffffff
                link.missed += 1
                if not (self.can_hold(link) if link.id else link.hits & mask):
                    link.ended = True
                    continue
            kept.append(link)
        self.links = kept
        given = {link.last.track for link in self.links}
        for j, box in enumerate(valid):
            if j in of_box or (self.tracks and (box.track is None or box.track in given)):
                continue
            of_box[j] = Link(box)
            given.add(box.track)
            self.links.append(of_box[j])
        least = min(self.settings["confirm"], self.settings["window"], self.frames)
        for link in self.links:
            if link.id == 0 and bin(link.hits & mask).count("1") >= least:
                link.id = self.next_id
                self.next_id += 1
        if len(self.links) > 2 * MOST:
            self.links = [link for link in self.links if link.missed == 0]
        now = {link: link.at(self.number) for link in self.links}
        results, j = [], 0
        for box in boxes:
            results.append(now[of_box[j]] if box.valid() and j in of_box else None)
            j += box.valid()
        return (results, [now[link] for link in self.links if link.missed and self.can_hold(link)],
                self.number)

    @staticmethod
    def leave(results, held, number):
        """Returns what becomes of each box of a frame that `frame` returned, by what became of the
        links since: None (not linked), "unconfirmed", or its link; and the links that are held."""
        return ([link if link is None or link.of.id else "unconfirmed" for link in results],
                [link for link in held
                 if link.of.id and (not link.of.ended or link.of.seen > number)])
