package api_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/api"
)

// What a consent to a call is bound to.
func ExampleConsented() {
	digest, err := api.Consented{
		Project: "home", Session: "sess_1", Turn: "turn_1", Call: "tc_1", Tool: "files.delete", Definition: "d1",
		Args: []byte(`{"root":"/home/ada","sets":[]}`), Policy: "p1", Question: 7,
	}.Digest()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%x\n", digest[:4])
	// Output: 15cb5200
}

// A route of the HTTP API, as a client asks for it.
func ExampleAddress() {
	fmt.Println(api.Address(api.RouteReply, "4"))
	// Output: POST /api/v1/questions/4/reply
}
