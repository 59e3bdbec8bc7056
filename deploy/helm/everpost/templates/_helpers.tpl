{{- define "everpost.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "everpost.labels" -}}
app.kubernetes.io/name: everpost
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The labels that select the pods of one Deployment. Takes a list: the root, and the component. */}}
{{- define "everpost.selector" -}}
app.kubernetes.io/name: everpost
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "everpost.tag" -}}
{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "everpost.image" -}}
"{{ .Values.image.repository }}:{{ include "everpost.tag" . }}"
{{- end }}

{{- define "everpost.deployment" -}}
{{ .Values.workerVersioning.deployment | default (include "everpost.name" .) }}
{{- end }}

{{- define "everpost.buildId" -}}
{{ .Values.workerVersioning.buildId | default (include "everpost.tag" .) }}
{{- end }}

{{/* A build id as a part of names. Takes the id. */}}
{{- define "everpost.buildName" -}}
{{ regexReplaceAll "[^a-z0-9]+" (lower .) "-" | trunc 30 | trimAll "-" }}
{{- end }}

{{/* What every container of Everpost has, beside its image. Takes a list: the root, and setup, api or workers. */}}
{{- define "everpost.container" -}}
{{- $root := index . 0 }}
{{- $component := index . 1 }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
envFrom:
  - configMapRef: { name: {{ include "everpost.name" $root }}-{{ eq $component "setup" | ternary "config" "environment" }} }
  - secretRef: { name: {{ index $root.Values.existingSecrets $component | default $root.Values.existingSecret }} }
{{- end }}

{{/* What every pod of Everpost has. */}}
{{- define "everpost.pod" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
automountServiceAccountToken: false
{{- with .Values.serviceAccount.name }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The files that containers of Everpost read or write. */}}
{{- define "everpost.mounts" -}}
- { name: tmp, mountPath: /tmp }
{{- if .Values.temporal.tlsSecret }}
- { name: temporal-tls, mountPath: /etc/everpost/temporal, readOnly: true }
{{- end }}
{{- end }}

{{- define "everpost.volumes" -}}
- { name: tmp, emptyDir: { sizeLimit: {{ .Values.tmpSizeLimit }} } }
{{- with .Values.temporal.tlsSecret }}
- { name: temporal-tls, secret: { secretName: {{ . }} } }
{{- end }}
{{- end }}

{{/* Where pods may run. Takes the part of the values with nodeSelector, tolerations and affinity. */}}
{{- define "everpost.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}
