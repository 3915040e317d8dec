package conform_test

// rows describe the members of every message as the catalogue does, one line each:
// the number of the rule, the path (with ! where it is required), what it is, and
// its limits. A line in capitals begins an area: its base, and where its members are.
// From each line follow the vectors on both sides of each limit.
const rows = `
START started
01 summary_normal! text 1 16384
02 summary_terse text 1 4096
03 summary_detailed text 1 16384
04 expected_duration_ms int 0 86400000
05 requested_by text 1 256
06 request_text text 0 16384
07 tools_available strings 0 256
COMP completed
01 summary_normal! text 1 16384
02 summary_terse text 1 4096
03 summary_detailed text 1 16384
04 duration_ms int 0 86400000
05 tool_invocations_count int 0 -
06 output_summary text 0 16384
07 result_uri uri
ERR errored
01 urgency! critical
02 error_category! enum transient permanent requires_user unknown
03 summary_normal! text 1 16384
04 summary_terse text 1 4096
05 summary_detailed text 1 16384
06 error_code pattern error_code
07 error_uri uri
08 recoverable bool
09 remediation_hint text 1 4096
CANC cancelled
01 cancelled_by! enum user producer timeout system
02 summary_normal! text 1 16384
03 summary_terse text 1 4096
04 summary_detailed text 1 16384
05 cancellation_reason pattern reason
06 partial_result text 0 16384
STATE state
01 from_state! text 1 64
02 to_state! text 1 64
03 summary_terse text 1 4096
04 summary_normal text 1 16384
05 summary_detailed text 1 16384
06 expected_duration_ms int 0 86400000
PROG progress
01 progress! object
02 progress/percent number 0 100
03 progress/step int 1 -
04 progress/total_steps int 1 -
05 progress/description text 1 4096
06 summary_terse text 1 4096
07 summary_normal text 1 16384
08 summary_detailed text 1 16384
09 eta_ms int 0 86400000
TINV invoked
01 tool! pattern tool
02 summary_normal! text 1 16384
03 summary_terse text 1 4096
04 summary_detailed text 1 16384
05 description text 1 4096
06 args_summary text 0 16384
07 expected_duration_ms int 0 86400000
08 risk_level enum low medium high
09 irreversible bool
10 tool_call_id pattern call
TCOM done
01 tool! pattern tool
02 status! enum success error timeout
03 summary_terse text 1 4096
04 summary_normal text 1 16384
05 summary_detailed text 1 16384
06 tool_call_id pattern call
07 duration_ms int 0 86400000
08 error_message text 1 4096
OUT chunk
01 chunk! text 0 16384
02 position! int 0 -
03 complete! bool
04 coalesce_hint enum none word sentence paragraph
05 output_id pattern output
06 content_type pattern content_type
07 language pattern language
CONFM confirmation
01 urgency! critical
02 action! text 1 16384
03 consequence! text 1 16384
04 reply_token! pattern reply
05 timeout_seconds! int 1 86400
06 default_decision! enum accept reject
07 summary_terse text 1 4096
08 summary_normal text 1 16384
09 summary_detailed text 1 16384
10 risk_level enum low medium high
11 irreversible bool
12 reversibility enum reversible reversible_with_effort irreversible
13 allowed_replies strings 1 32
14 extra_context object
CLAR clarification
01 urgency! critical
02 question! text 1 16384
03 reply_token! pattern reply
04 timeout_seconds! int 1 86400
05 summary_terse text 1 4096
06 summary_normal text 1 16384
07 summary_detailed text 1 16384
08 accepted_response_kinds words 1 4 freetext yes_no numeric multiple_choice
10 context text 1 4096
11 default_response text 0 4096
HAND handoff
01 urgency! critical
02 reason! text 1 16384
03 target_kind! enum human specialist_agent escalation_queue
04 summary_terse text 1 4096
05 summary_normal text 1 16384
06 summary_detailed text 1 16384
07 target_uri uri
08 packaged_context object
09 urgency_for_handoff enum low medium high
CONF creply
31 reply_token! pattern reply
32 decision! enum accept reject
33 subscription_id! pattern subscription
34 timestamp! timestamp
35 decided_by text 1 256
36 decision_rationale text 1 4096
37 modified_action object
39 correlation_id string
CLA answer
02 reply_token! pattern reply
02 subscription_id! pattern subscription
02 timestamp! timestamp
05 decided_by text 1 256
05 confidence number 0 1
05 correlation_id string
HS request
02 aaep_version! pattern version
03 subscriber_id! text 1 256
04 capabilities! object
05 subscriber_name text 0 256
05 subscriber_version text 0 64
05 subscriber_manifest_uri uri
05 correlation_id string
05 extensions object
HS accepted
21 subscription_id! pattern subscription
22 aaep_version! pattern version
23 producer! object
23 producer/agent_id! text 1 -
24 honored_capabilities! object
25 manifest_uri uri
25 signed_manifest pattern signed_manifest
25 negotiation_notes text 0 4096
HS rejected
41 reason_code! enum version_unsupported manifest_signature_required capabilities_incompatible rate_limit authentication_required authorization_denied transport_unavailable unknown
42 reason_message! text 1 4096
43 retry_after_seconds int 0 86400
43 alternative_manifest_uri uri
HS renegotiate
60 subscription_id! pattern subscription
60 capabilities! object
HS close
66 subscription_id! pattern subscription
66 reason_message string
CAP request
01 capabilities/max_events_per_second int 1 100000
02 capabilities/preferred_verbosity enum terse normal detailed
03 capabilities/languages tags 1 32
04 capabilities/supports_confirmation_reply bool
05 capabilities/supports_clarification_reply bool
06 capabilities/coalesce_boundaries words 1 5 none word sentence paragraph completion
07 capabilities/event_filters/include patterns 0 -
07 capabilities/event_filters/exclude patterns 0 -
09 capabilities/supported_conformance_levels levels 1 3
10 capabilities/supported_extensions uris 0 64
11 capabilities/cognitive_load enum low medium high
12 capabilities/pace_wpm int 50 1000
13 capabilities/accept_signed_manifests_only bool
ENV state
29 producer! object
29 producer/agent_id! text 1 -
31 producer/agent_version text 1 -
31 producer/agent_name text 1 -
31 producer/model text 1 -
32 producer/manifest_uri uri
34 verbosity enum terse normal detailed
35 urgency enum background normal
39 sequence_number int 0 -
40 correlation_id string
18 event_id pattern event
21 session_id pattern session
I18N state
04 localization_hints/text_direction enum ltr rtl auto
05 localization_hints/available_languages tags 0 32
06 localization_hints/fallback_chain tags 0 16 repeats
07 localization_hints/script pattern script
07 localization_hints/calendar string
`
