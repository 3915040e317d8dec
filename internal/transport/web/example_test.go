package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/earshot-dev/earshot/internal/transport/web"
)

// A program subscribes, and is told where its stream is.
func Example() {
	server, err := web.New(web.Options{Hub: newRoom(), Access: newDoors()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	r := httptest.NewRequest(http.MethodPost, "http://localhost:7411/aaep/v1/subscriptions",
		strings.NewReader(`{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"reader-1","capabilities":{}}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer secret-ada")
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Header().Get("Location"))
	// Output: 201 /aaep/v1/events?subscription_id=sub_0000000000000001
}
