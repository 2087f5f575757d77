module flyte-ts/local-servers/pause

go 1.24.0
