"""The only orchestration: plan, pipeline, passes, resume."""
