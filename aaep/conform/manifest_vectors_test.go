package conform_test

import (
	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform"
)

// manifestVectors are about the document by which a producer introduces itself.
func manifestVectors() []source {
	base := object{
		{"@context", aaep.CoreContext},
		{"type", "aaep:producer.manifest"},
		{"agent_id", "vector-agent"},
		{"aaep_versions_supported", list("1.0.0")},
		{"conformance_levels_supported", list(1, 2)},
		{"transports_supported", list("stdio-jsonrpc")},
		{"languages_supported", list("en", "yo-NG")},
	}
	web := base.with("transports_supported", list("sse"))
	all := []source{
		good("MAN-02", "plain", "context and type of a manifest", base),
		bad("MAN-02", "context", "another context", "/@context", base.with("@context", others)).finding("ENV-08"),
		bad("MAN-02", "no-context", "no context", "/@context", base.with("@context", absent{})),
		bad("MAN-02", "type", "the type of an event", "/type", base.with("type", "aaep:agent.session.started")),
		good("MAN-03", "all", "every member", base.with("agent_version", "1.2.3", "agent_name", "Vectors", "event_types_emitted", list("aaep:agent.*"), "extensions_supported", list(others), "default_verbosity", "normal", "max_concurrent_subscriptions", 8, "contact", "mailto:who@example.org")),
		bad("MAN-03", "no-agent", "no agent_id", "/agent_id", base.with("agent_id", absent{})),
		bad("MAN-03", "level", "a level that does not exist", "/conformance_levels_supported/0", base.with("conformance_levels_supported", list(4))),
		bad("MAN-03", "verbosity", "a verbosity that does not exist", "/default_verbosity", base.with("default_verbosity", "loud")),
		bad("MAN-03", "language", "a tag that is none", "/languages_supported/0", base.with("languages_supported", list("en_US"))),
		bad("MAN-03", "number", "a name that is a number", "/agent_name", base.with("agent_name", 7)),
		warn("MAN-04", "pigeon", "a transport that nobody knows", "/transports_supported/0", base.with("transports_supported", list("pigeon"))),
		good("MAN-04", "known", "a transport that is known", base),
		warn("MAN-05", "no-prefix", "an HTTP transport, and no path to it", anywhere, web), // C-93
		good("MAN-05", "prefix", "an HTTP transport, and its path", web.with("@context", list(aaep.CoreContext, aaep.ExtensionContext), "extensions", object{{"earshot", object{{"path_prefix", "/aaep/v1"}}}})),
		bad("VER-08", "none", "no versions", "/aaep_versions_supported", base.with("aaep_versions_supported", absent{})),
		bad("VER-08", "empty", "an empty list of versions", "/aaep_versions_supported", base.with("aaep_versions_supported", list())),
		good("VER-08", "one", "one version", base),
	}
	for i := range all {
		all[i].Kind = conform.KindDocument
	}
	return all
}
