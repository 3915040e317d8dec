package socket_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
)

// One message goes each way, and the producer says why it ends.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := socket.Accept(w, r, socket.Options{Limit: transport.MessageLimit})
		if err != nil {
			return // the request has its answer
		}
		raw, _ := conn.Receive()
		_ = conn.Send(raw)
		conn.Close(transport.Clean, "that was all")
	}))
	defer server.Close()
	address := "ws" + strings.TrimPrefix(server.URL, "http")
	conn, _, err := socket.Dial(context.Background(), address, server.Client(), nil, socket.Options{Limit: 1 << 20}) //nolint:bodyclose // it is the connection
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Drop()
	_ = conn.Send([]byte(`{"n":1}`))
	raw, err := conn.Receive()
	fmt.Println(string(raw), err)
	_, err = conn.Receive()
	fmt.Println(err)
	// Output:
	// {"n":1} <nil>
	// the other side has closed the connection with the code 4000 that was all
}
