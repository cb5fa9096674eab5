"""MiniGrid's BabyAI missions as a world for a body that is steered by words; needs the extra `minigrid`."""
