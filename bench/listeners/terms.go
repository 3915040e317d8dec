package main

import "fmt"

// equal are the capabilities of listeners who all ask for the same.
func equal(int) string { return `{"max_events_per_second":5000}` }

// different are the capabilities of a listener that nobody else asks for: each has a rate of its own, above the one at
// which events come, with a filter, a language, a verbosity and boundaries.
func different(n int) string {
	filters := []string{
		`{"include":["aaep:agent.*"]}`, `{"exclude":["aaep:agent.progress.updated"]}`, `{"include":["aaep:agent.state.*","aaep:agent.session.*"]}`,
		`{"include":["aaep:agent.*"],"exclude":["aaep:agent.output.*"]}`, `{"exclude":["aaep:agent.tool.*","aaep:agent.output.streaming"]}`,
	}
	return fmt.Sprintf(`{"max_events_per_second":%d,"preferred_verbosity":%q,"languages":[%q],"coalesce_boundaries":[%q],"cognitive_load":%q,"event_filters":%s}`,
		5000+n, pick(n, "terse", "normal", "detailed"), pick(n, "en", "es", "fr", "ar", "yo", "en-GB", "de"),
		pick(n, "word", "sentence", "paragraph", "completion"), pick(n, "low", "medium", "high", "medium"), filters[n%len(filters)])
}

func pick(n int, from ...string) string { return from[n%len(from)] }
