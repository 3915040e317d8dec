package aaep

// This file says in JSON Schema what the rules of the table check in Go, where it can
// be said. A differential test holds the two against each other.

// timestampPattern is the shape of §3.2.5; the calendar is beyond a pattern.
const timestampPattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3}|\.[0-9]{6})?(Z|[+-][0-9]{2}:[0-9]{2})$`

// shapeContext is ENV-08 and ENV-09.
func shapeContext(s *schema) {
	address := schema{Type: "string"}
	address.text(Field{Format: FormatURI})
	s.AnyOf = []schema{
		{Const: CoreContext},
		{Type: "array", MinItems: 1, PrefixItems: []schema{{Const: CoreContext}}, Items: &address},
	}
}

// shapeVersion is ENV-44: a version of this major, or the draft before it (C-14).
func shapeVersion(s *schema) {
	s.AnyOf = []schema{{Pattern: `^1\.`}, {Const: "0.1.0-draft"}}
}

// shapePrefixes names what is known under each prefix, and what no prefix may be
// called (EXT-10).
func shapePrefixes(s *schema) {
	for _, f := range namespaces() {
		f.Spec = "§3.9"
		s.Properties = append(s.Properties, named{f.Name, fieldSchema(f)})
	}
	s.PropertyNames = &schema{Comment: "EXT-10, §7.3.2", Not: &schema{AnyOf: []schema{{Enum: anyOfValues(reservedPrefixes)}, {Pattern: "^@"}}}}
}

// declaredPrefixes is ENV-42: a registered prefix needs its context, any other at
// least one that may declare it.
func declaredPrefixes() []schema {
	var all []schema
	for _, prefix := range knownPrefixes() {
		all = append(all, whenExtended(
			schema{Required: []string{prefix}},
			schema{Type: "array", Contains: &schema{Const: extensionPrefixes[prefix]}},
		))
	}
	others := schema{PropertyNames: &schema{Enum: anyOfValues(knownPrefixes())}}
	return append(all, whenExtended(schema{Not: &others}, schema{Type: "array", MinItems: 2}))
}

// whenExtended says what @context is where extensions is an object of some kind.
func whenExtended(kind, context schema) schema {
	kind.Type = "object"
	return schema{
		Comment: "ENV-42, §3.4.3",
		If:      &schema{Required: []string{"extensions"}, Properties: members{{"extensions", kind}}},
		Then:    &schema{Properties: members{{"@context", context}}},
	}
}

// refusedByDefault is the table of §6.4.1: silence is not a yes to what cannot be undone
// and may end badly. Either member may say that it cannot be undone (C-21).
func refusedByDefault() []schema {
	return []schema{{
		Comment: "CONFM-15, CONF-20, CONF-21, CONF-27, §6.4.1",
		If: &schema{
			Required:   []string{"risk_level"},
			Properties: members{{"risk_level", schema{Enum: []any{string(RiskMedium), string(RiskHigh)}}}},
			AnyOf: []schema{
				{Required: []string{"irreversible"}, Properties: members{{"irreversible", schema{Const: true}}}},
				{Required: []string{"reversibility"}, Properties: members{{"reversibility", schema{Const: string(Irreversible)}}}},
			},
		},
		Then: &schema{Properties: members{{"default_decision", schema{Const: string(DecisionReject)}}}},
	}}
}

// choicesToChoose is CLAR-09: multiple choice needs choices (C-29).
func choicesToChoose() []schema {
	return []schema{{
		Comment: "CLAR-09, §4.4.2",
		If: &schema{
			Required:   []string{"accepted_response_kinds"},
			Properties: members{{"accepted_response_kinds", schema{Type: "array", Contains: &schema{Const: string(ResponseMultipleChoice)}}}},
		},
		Then: &schema{Required: []string{"choices"}},
	}}
}

// shapeSomeProgress is PROG-01.
func shapeSomeProgress(s *schema) {
	for _, name := range progressMembers {
		s.AnyOf = append(s.AnyOf, schema{Required: []string{name}})
	}
}

// shapeFilterPattern is CAP-08: an asterisk at the end only.
func shapeFilterPattern(s *schema) { s.Pattern = `^[^*]*\*?$` }

// shapeExtensionCapability is CAP-14: what is not known is an object.
func shapeExtensionCapability(s *schema) { s.AdditionalProperties = &schema{Type: "object"} }

// shapeConfirmationReply is L2S-2: level 2 or 3, and no replies, contradict each other.
func shapeConfirmationReply(s *schema) {
	s.If = &schema{
		Required:   []string{"supported_conformance_levels"},
		Properties: members{{"supported_conformance_levels", schema{Type: "array", Contains: &schema{Enum: []any{2, 3}}}}},
	}
	s.Then = &schema{Properties: members{{"supports_confirmation_reply", schema{Not: &schema{Const: false}}}}}
}
