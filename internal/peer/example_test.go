package peer_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"

	"github.com/earshot-dev/earshot/internal/peer"
)

// A request from this machine says whose it is, where the system tells (Linux).
func Example() {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		user := peer.Of(r)
		fmt.Println(user == "" || user == strconv.Itoa(os.Geteuid()))
	}))
	server.Config.ConnContext = peer.With
	server.Start()
	defer server.Close()
	response, err := http.Get(server.URL)
	if err != nil {
		panic(err)
	}
	_ = response.Body.Close()
	// Output: true
}
