"""From a clip to det.npz: keypoints in both views, their confidences, and whether the views agree."""
