package conform_test

// shape is the examples of one kind of string.
type shape struct{ keeps, breaks []example }

type example struct{ slug, title, value string }

// identifier is the shape of a prefix and 1 to 64 letters and digits.
func identifier(prefix string) shape {
	return shape{
		keeps: []example{
			{"shortest", "has one character behind its prefix", prefix + "0"},
			{"longest", "has 64 characters behind its prefix", prefix + many("aZ09", 16)},
		},
		breaks: []example{
			{"bare", "is a prefix only", prefix},
			{"too-long", "has 65 characters behind its prefix", prefix + many("a", 65)},
			{"hyphen", "has a hyphen in it", prefix + "a-b"},
			{"other-prefix", "has another prefix", "id_1"},
			{"newline", "has a line feed at its end", prefix + "a\n"}, // C-12
			{"letter", "has a letter that is not ASCII", prefix + "é"},
		},
	}
}

// shapes are those of identifiers and names, each with what breaks it.
var shapes = map[string]shape{
	"event":        identifier("evt_"),
	"session":      identifier("sess_"),
	"reply":        identifier("rpl_"),
	"subscription": identifier("sub_"),
	"call":         identifier("call_"),
	"output":       identifier("out_"),
	"tool": {
		keeps: []example{
			{"shortest", "is one letter", "a"},
			{"longest", "has 256 characters", "_" + many("a.-9_", 51)},
		},
		breaks: []example{
			{"empty", "is empty", ""},
			{"digit", "starts with a digit", "1a"},
			{"slash", "has a slash in it", "github/create_issue"},
			{"colon", "has a colon in it", "ns:tool"},
			{"too-long", "has 257 characters", many("a", 257)},
		},
	},
	"error_code": {
		keeps:  []example{{"shortest", "has two characters", "E0"}, {"longest", "has 64 characters", "E" + many("A_1", 21)}},
		breaks: []example{{"one", "has one character", "E"}, {"small", "is in small letters", "timeout"}, {"too-long", "has 65 characters", many("E", 65)}, {"digit", "starts with a digit", "1E"}},
	},
	"reason": {
		keeps:  []example{{"shortest", "has two characters", "a0"}, {"longest", "has 64 characters", "a" + many("b_1", 21)}},
		breaks: []example{{"one", "has one character", "a"}, {"capital", "starts with a capital", "Stopped"}, {"space", "has a space in it", "by user"}, {"too-long", "has 65 characters", many("a", 65)}},
	},
	"content_type": {
		keeps:  []example{{"markdown", "is a plain media type", "text/markdown"}, {"suffix", "has a suffix", "application/vnd.example+json"}},
		breaks: []example{{"parameter", "has a parameter", "text/plain; charset=utf-8"}, {"half", "has no subtype", "text"}, {"empty", "is empty", ""}},
	},
	"language": {
		keeps:  []example{{"plain", "is a language", "yo"}, {"script", "has script and region", "zh-Hant-TW"}, {"private", "has a private part", "en-x-plain"}},
		breaks: []example{{"underscore", "has an underscore", "en_US"}, {"words", "is a name", "english language"}, {"empty", "is empty", ""}, {"double", "has two hyphens in a row", "en--US"}},
	},
	"script": {
		keeps:  []example{{"latin", "is Latn", "Latn"}},
		breaks: []example{{"small", "starts with a small letter", "latn"}, {"capitals", "is in capitals", "LATN"}, {"short", "has three letters", "Lat"}},
	},
	"version": {
		keeps:  []example{{"first", "is 1.0.0", "1.0.0"}, {"later", "is of a later release", "1.2.30"}},
		breaks: []example{{"two", "has two numbers", "1.0"}, {"letter", "has a letter before it", "v1.0.0"}, {"empty", "is empty", ""}},
	},
	"signed_manifest": {
		keeps:  []example{{"three", "has three parts", "eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl"}},
		breaks: []example{{"two", "has two parts", "e30.e30"}, {"detached", "has an empty payload", "e30..c2ln"}, {"padded", "is padded", "e30=.e30=.c2ln"}},
	},
}

// moment is the shape of a timestamp.
var moment = shape{
	keeps: []example{
		{"offset", "is at an offset", "2026-05-24T16:22:11+02:00"},
		{"millis", "has milliseconds", "2026-05-24T14:22:11.342Z"},
	},
	breaks: []example{
		{"one-digit", "has a fraction of one digit", "2026-05-24T14:22:11.1Z"},
		{"no-zone", "has no zone", "2026-05-24T14:22:11"},
		{"no-day", "is the 30th of February", "2026-02-30T14:22:11Z"},
	},
}
