"""Directs Snowflake's client to the server that SNOWFLAKE_STAND_IN names as host:port.

The connector of flytekit-plugins has no setting for the host. `pyflyte serve connector --modules snowflake_stand_in`.
"""

import functools
import os

from snowflake import connector

host, port = os.environ["SNOWFLAKE_STAND_IN"].split(":")
connector.connect = functools.partial(
    connector.connect, host=host, port=int(port), protocol="http", session_parameters={"CLIENT_OUT_OF_BAND_TELEMETRY_ENABLED": False}
)
