"""The console: pages for people. Server-rendered, native EventSource, nothing from elsewhere."""
