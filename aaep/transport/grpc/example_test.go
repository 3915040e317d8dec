package grpc_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/grpc"
)

// A server of HTTP/2 serves gRPC as one more path.
func Example() {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+grpc.SubscribePath, func(w http.ResponseWriter, r *http.Request) {
		producer, err := grpc.Accept(w, r, grpc.Options{Limit: 64 << 10})
		if err != nil {
			return
		}
		raw, err := producer.Receive()
		fmt.Println(string(raw), err)
		producer.Close(transport.Clean, "that was all")
	})
	server := httptest.NewUnstartedServer(mux)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()

	subscriber, err := grpc.Dial(context.Background(), server.URL, new(http.Transport), nil, grpc.Options{Limit: 64 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer subscriber.Drop()
	_ = subscriber.Send([]byte(`{"type":"subscription.request"}`))
	_, err = subscriber.Receive()
	fmt.Println(err)
	// Output:
	// {"type":"subscription.request"} <nil>
	// the other side has closed the connection with the code 4000 that was all
}
