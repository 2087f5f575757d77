{{- /* The name of a service's image: of a list of the context, the service's name and the image that its values name. */ -}}
{{- define "flyte-ts.image" -}}
{{- $root := index . 0 -}}
{{- index . 2 | default (printf "%s/%s:%s" $root.Values.image.registry (index . 1) ($root.Values.image.tag | default $root.Chart.AppVersion)) -}}
{{- end -}}
