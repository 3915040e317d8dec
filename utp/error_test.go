package utp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// TestErrorTexts: each error says where, what was found and what was expected, and does
// not carry a whole message along.
func TestErrorTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 5000)
	_, subject := utp.ParseSubject("cg.v1r4.a b.public.cmd.tool.files.delete")
	_, header := utp.DecodeHeader(map[string][]string{"CG-Turn-Epoch": {"one"}})
	_, _, command := utp.DecodeCommand([]byte(`{"tool_call_card_id":"c","after_execution":"pause"}`), utp.Context{})
	_, _, inlined := utp.DecodeCommand([]byte(`{"args":{}}`), utp.Context{})
	_, card := utp.DecodeCard([]byte(`{"card_id":"c1","tenant_id":"p","content":{},"metadata":{}}`))
	_, options := utp.ParseOptions([]byte(`[]`))
	_, huge := utp.ParseSubject(long)
	_, _, hugeCommand := utp.DecodeCommand([]byte(`{"tool_call_card_id":["`+long+`"]}`), utp.Context{})
	tests := []struct {
		err  error
		want string
	}{
		{subject, `subject "cg.v1r4.a b.public.cmd.tool.files.delete": the project is "a b"; expected 1 to 128 of A-Z a-z 0-9 _ -`},
		{header, `header CG-Turn-Epoch is "one"; expected a whole number of at least 0`},
		{command, `payload field after_execution is "pause"; expected suspend or terminate`},
		{inlined, `payload field args is in the payload; expected nothing here: it is read from the card`},
		{card, `card "c1": metadata.created_at is nothing; expected a time with an offset`},
		{options, `definition of tool nothing: options is not an object; expected a JSON object`},
		{&utp.ToolError{Code: "c", Message: "m"}, `c: m`},
	}
	for _, tt := range tests {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("got  %v\nwant %s", tt.err, tt.want)
		}
	}
	for _, err := range []error{huge, hugeCommand} {
		if err == nil || len(err.Error()) > 300 {
			t.Errorf("%d bytes: %v", len(err.Error()), err)
		}
	}
}

func TestErrorCauses(t *testing.T) {
	t.Parallel()
	_, err := utp.Canonical([]byte(`{"a":1,"a":2}`))
	if !errors.Is(err, jsontext.ErrDuplicateName) {
		t.Errorf("%v hides its cause", err)
	}
	_, _, err = utp.DecodeCommand([]byte(`{"a":1,"a":2}`), utp.Context{})
	if !errors.Is(err, jsontext.ErrDuplicateName) {
		t.Errorf("%v hides its cause", err)
	}
	f := callCard()
	f.Arguments = []byte(`{"a":1,"a":2}`)
	if _, err = utp.NewToolCall(f); !errors.Is(err, jsontext.ErrDuplicateName) {
		t.Errorf("%v hides its cause", err)
	}
	d := definition()
	d.Target = "cg"
	if _, ok := errors.AsType[*utp.SubjectError](d.Validate()); !ok {
		t.Errorf("%v hides its cause", d.Validate())
	}
}
