package narrate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/utp"
)

const shelfSchema = `{"type":"object","properties":{
	"root":{"type":"string"},"sets":{"type":"array","items":{"$ref":"#/$defs/set"}},"open":{"type":"object"},"any":{},
	"either":{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]},
	"pair":{"type":"array","prefixItems":[{"type":"string"}]},"tree":{"$ref":"#/$defs/tree"}},
	"$defs":{"set":{"type":"object","properties":{"size":{"type":"integer"},"delete":{"type":"array","items":{"type":"string"}}}},
		"tree":{"type":"object","properties":{"next":{"$ref":"#/$defs/tree"}}}},"additionalProperties":false}`

// TestCheck: the words of a definition are refused where they could not be said, with the place and what was expected.
func TestCheck(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		``:                      "",
		`{"args":{},"other":1}`: "",
		`{"consent":{"action":"Delete {n, plural, one {# file} other {# files}} in {root}.","facts":{"n":{"count":"/sets/*/delete/*"},"root":{"text":"/root"}},"covers":["/sets"]}}`: "",
		`{"consent":{"facts":{"bytes":{"sum":"/sets/*/size","times":"/sets/*/delete"}},"consequence":"This frees {bytes}."}}`:                                                        "",
		`{"consent":{"facts":{"root":{"text":"/root"}}},"doing":{"text":"In {root} with {b}.","facts":{"b":{"text":"/either/b"}}}}`:                                                  "",
		`{"consent":{"facts":{"a":{"text":"/open/what/ever"},"b":{"text":"/any/thing"},"c":{"text":"/pair/0"},"d":{"value":"/tree/next/next/next"}}}}`:                               "",
		`{"result":{"success":"Deleted {n}.","facts":{"n":{"value":"/deleted"}}}}`:                                                                                                   "",

		`[]`:                            `options is malformed; expected consent, doing and result as objects of texts`,
		`{"consent":{"acton":"Go."}}`:   `options.consent.acton is unknown; expected one of action, consequence, hint, covers, facts`,
		`{"consent":{"action":"{n}."}}`: `options.consent.action is "{n}"; expected a name among its facts: there is none`,
		`{"consent":{"consequence":"{m}.","facts":{"n":{"text":"/root"}}}}`:                             `options.consent.consequence is "{m}"; expected a name among its facts: n`,
		`{"consent":{"action":"{n, plural, one {{who}} other {#}}","facts":{"n":{"count":"/sets/*"}}}}`: `options.consent.action is "{who}"; expected a name among its facts: n`,
		`{"consent":{"action":"{"}}`:                                                  `options.consent.action is malformed (`,
		`{"consent":{"facts":{"n":{"count":"/set/*"}}}}`:                              `options.consent.facts.n is "/set/*"; expected a path to something that the parameters have`,
		`{"consent":{"facts":{"n":{"text":"/sets/0/size/deeper"}}}}`:                  `options.consent.facts.n is "/sets/0/size/deeper"`,
		`{"consent":{"facts":{"n":{"sum":"/sets/*/size","times":"/sets/*/remove"}}}}`: `options.consent.facts.n is "/sets/*/remove"`,
		`{"doing":{"facts":{"n":{"text":"/either/c"}}}}`:                              `options.doing.facts.n is "/either/c"`,
		`{"doing":{"facts":{"n":{"text":"/pair/x"}}}}`:                                `options.doing.facts.n is "/pair/x"`,
		`{"doing":{"facts":{"n":{"text":"root"}}}}`:                                   `options.doing.facts is malformed (`,
		`{"result":{"partial":"{n}"}}`:                                                `options.result.partial is "{n}"`,
		`{"consent":{"covers":["/sets"]}}`:                                            `options.consent.covers is "a list without a sentence"; expected consent.action`,
		`{"consent":{"action":"Go.","covers":["/paths"]}}`:                            `options.consent.covers[0] is "/paths"; expected the JSON pointer`,
		`{"consent":{"action":"Go.","covers":["/sets/*"]}}`:                           `options.consent.covers[0] is "/sets/*"`,
		`{"consent":{"action":"Go.","covers":[""]}}`:                                  `options.consent.covers[0] is ""`,
	} {
		err := narrate.Check(utp.Definition{Tool: "shelf.clear", Parameters: jsontext.Value(shelfSchema), Options: jsontext.Value(options)})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), `tool "shelf.clear": `+want)) {
			t.Errorf("%s: %v; want %q", options, err, want)
		}
		if wrong, is := errors.AsType[*utp.DefinitionError](err); want != "" && (!is || wrong.Tool != "shelf.clear") {
			t.Errorf("%s: %T", options, err)
		}
	}
}
