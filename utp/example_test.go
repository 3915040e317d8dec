package utp_test

import (
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/utp"
)

// A call on its way out: where it goes, under which headers, and with which payload.
func Example() {
	subject, err := utp.ToolCommand("home", "public", "files", "delete")
	if err != nil {
		fmt.Println(err)
		return
	}
	header, err := utp.EncodeHeader(utp.Context{
		ProjectID: "home", ChannelID: "public", AgentID: "tidy", TurnID: "turn_1", TurnEpoch: 1,
		StepID: "step_1", ToolCallID: "tc_1", Traceparent: utp.NewTraceparent([16]byte{15: 1}, [8]byte{7: 2}),
	}, utp.Stamp{At: time.UnixMilli(1_795_000_000_000)})
	if err != nil {
		fmt.Println(err)
		return
	}
	payload, err := utp.EncodeCommand(utp.Command{ToolName: "files.delete", AfterExecution: utp.Suspend, ToolCallCardID: "card_1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(subject)
	fmt.Println(header[utp.HeaderToolCallID][0], header[utp.HeaderTraceparent][0])
	fmt.Println(string(payload))
	// Output:
	// cg.v1r4.home.public.cmd.tool.files.delete
	// tc_1 00-00000000000000000000000000000001-0000000000000002-01
	// {"tool_name":"files.delete","after_execution":"suspend","tool_call_card_id":"card_1"}
}

// Arguments that could mean two things are refused before anyone is asked.
func ExampleCanonical() {
	form, err := utp.Canonical([]byte(`{ "b": 1.50, "a": "caf\u00e9" }`))
	fmt.Println(string(form), err)
	_, err = utp.Canonical([]byte(`{"path":"/tmp","path":"/"}`))
	fmt.Println(err)
	_, err = utp.Canonical([]byte(`{"account":{"id":9007199254740993}}`))
	fmt.Println(err)
	// Output:
	// {"a":"café","b":1.5} <nil>
	// arguments at "/path": found the name "path" twice; expected every name once
	// arguments at "/account/id": found the number 9007199254740993, which a double does not carry exactly; expected another number, or a string
}
