package acp_test

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/gateway/acp"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
)

// An agent begins in a mode in which it asks nobody. It is set to one in which it asks, its question reaches the person, and
// their yes selects the option that allows once.
func Example() {
	m := acp.NewMachine(acp.Settings{Agent: "claude"})
	show := func(effects []acp.Effect) {
		for _, e := range effects {
			switch e := e.(type) {
			case acp.Report:
				fmt.Println("report:", e.Observed+e.Text)
			case acp.Ask:
				fmt.Println("ask:", e.Permission.Tool, string(e.Permission.Input))
			default:
				fmt.Printf("%T %+v\n", e, e)
			}
		}
	}
	show(m.Opened(acp.Opened{Session: "s1", Modes: &acp.ModeList{Current: "auto", Available: []acp.Mode{{ID: "auto"}, {ID: "default"}}}}))
	show(m.ModeSet("default", nil))
	show(m.Prompt("Delete the build."))
	show(m.Permission("1", jsontext.Value(`{"sessionId":"s1",
		"toolCall":{"toolCallId":"t1","title":"rm -r build","kind":"execute","rawInput":{"command":"rm -r build"}},
		"options":[{"optionId":"a","kind":"allow_always"},{"optionId":"b","kind":"allow_once"},{"optionId":"c","kind":"reject_once"}]}`)))
	show(m.Answered("1", hook.Answer{Verdict: hook.Allow}))
	show(m.Update(jsontext.Value(`{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}}`)))
	show(m.Rested("end_turn", nil))
	// Output:
	// acp.SetMode {Mode:default Setting:}
	// report: Its mode is default: it asks before it uses tools.
	// acp.Ready {}
	// report: It is given the request: Delete the build.
	// acp.Send {Text:Delete the build.}
	// ask: execute {"title":"rm -r build","input":{"command":"rm -r build"}}
	// acp.Reply {Request:1 Option:b}
	// report: Done: rm -r build.
	// report: It has finished its turn.
	// acp.Ready {}
}
