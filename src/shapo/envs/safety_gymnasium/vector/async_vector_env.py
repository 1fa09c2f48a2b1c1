"""Their vector of processes. Here it is none: a step of ours takes less time than a message to another process."""

from shapo.envs.safety_gymnasium.vector.sync_vector_env import SafetySyncVectorEnv

SafetyAsyncVectorEnv = SafetySyncVectorEnv
"""The same as `SafetySyncVectorEnv`."""
