package transport_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep/transport"
)

// Where a transport has no close codes, a message stands for them.
func Example() {
	raw, err := transport.Closing("sub_1", transport.GoingAway, "it restarts")
	fmt.Println(string(raw), err)
	end, is := transport.Closed(raw)
	fmt.Println(end, is)
	// Output:
	// {"type":"subscription.close","subscription_id":"sub_1","reason_code":"going_away","reason_message":"it restarts"} <nil>
	// the other side has closed the connection with the code 1001 it restarts true
}
