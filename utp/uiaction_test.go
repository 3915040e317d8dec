package utp_test

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// TestDecodeUIAction: the payload of an action, its control fields of the older form, its metadata, and what is wrong.
func TestDecodeUIAction(t *testing.T) {
	for payload, want := range map[string]utp.UIAction{
		`{"action_id":"a","tool_name":"light","args":{"on":true}}`:                                                                     {ActionID: "a", ToolName: "light", Args: jsontext.Value(`{"on":true}`)},
		`{"action_id":" a ","message_id":"m","tool_name":"light","args":{},"later":1,"metadata":null}`:                                 {ActionID: "a", MessageID: "m", ToolName: "light", Args: jsontext.Value(`{}`)},
		`{"action_id":"a","tool_name":"light","args":{"z":1},"metadata":{"x":1}}`:                                                      {ActionID: "a", ToolName: "light", Args: jsontext.Value(`{"metadata":{"x":1},"z":1}`)},
		`{"action_id":"a","tool_name":"light","args":{"metadata":{"x":2}},"metadata":{"x":1,"y":1}}`:                                   {ActionID: "a", ToolName: "light", Args: jsontext.Value(`{"metadata":{"x":2,"y":1}}`)},
		`{"action_id":"a","tool_name":"light","args":{"metadata":null},"metadata":{"x":1e400}}`:                                        {ActionID: "a", ToolName: "light", Args: jsontext.Value(`{"metadata":{"x":1e400}}`)},
		`{"action_id":"a","tool_name":"light","args":{},"agent_id":"panel","agent_turn_id":"t1","turn_epoch":0,"recursion_depth":"0"}`: {ActionID: "a", ToolName: "light", Args: jsontext.Value(`{}`)},
	} {
		got, header, err := utp.DecodeUIAction([]byte(payload), utp.Context{AgentID: "panel"})
		if err != nil || got.ActionID != want.ActionID || got.MessageID != want.MessageID || got.ToolName != want.ToolName || string(got.Args) != string(want.Args) {
			t.Errorf("%s is %+v, %v", payload, got, err)
		}
		if header.AgentID != "panel" {
			t.Errorf("%s is of %+v", payload, header)
		}
	}
	for payload, want := range map[string]utp.Code{
		`[]`:                                utp.CodeBadRequest,
		`{"action_id":"a","action_id":"b"}`: utp.CodeBadRequest,
		`{"action_id":7}`:                   utp.CodeBadRequest,
		`{"action_id":"a","tool_name":"light","args":{},"agent_id":"other"}`:              utp.CodeBadRequest,
		`{"tool_name":"light","args":{}}`:                                                 utp.CodeMissingRequiredFields,
		`{"action_id":"a","tool_name":" ","args":{}}`:                                     utp.CodeMissingRequiredFields,
		`{"action_id":"a","tool_name":"light","args":null}`:                               utp.CodeMissingRequiredFields,
		`{"action_id":"a","tool_name":"light","args":[]}`:                                 utp.CodeInvalidArgs,
		`{"action_id":"a","tool_name":"light","args":{},"metadata":"x"}`:                  utp.CodeInvalidMetadata,
		`{"action_id":"a","tool_name":"light","args":{"metadata":[]},"metadata":{"x":1}}`: utp.CodeInvalidMetadata,
	} {
		got, _, err := utp.DecodeUIAction([]byte(payload), utp.Context{AgentID: "panel"})
		var wrong *utp.PayloadError
		if !errors.As(err, &wrong) || wrong.Reason != want {
			t.Errorf("%s: %v, want %s", payload, err, want)
		}
		if want != utp.CodeBadRequest && want != utp.CodeMissingRequiredFields && got.ActionID != "a" {
			t.Errorf("%s: the action cannot be answered: %+v", payload, got)
		}
	}
}

// TestUIAllowed: only the value true allows actions.
func TestUIAllowed(t *testing.T) {
	for options, want := range map[string]bool{
		``: false, `{}`: false, `{"ui_allowed":true}`: true, `{"ui_allowed":false}`: false, `{"ui_allowed":"true"}`: false, `{"ui_allowed":1}`: false, `{"ui_allowed":null}`: false,
	} {
		if got, err := utp.ParseOptions(jsontext.Value(options)); err != nil || got.UIAllowed != want {
			t.Errorf("%s: %v, %v", options, got.UIAllowed, err)
		}
	}
}
