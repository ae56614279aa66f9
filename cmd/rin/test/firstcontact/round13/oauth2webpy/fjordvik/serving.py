"""cheroot (the server of web.py) with the framing rules of RFC 9112 that it leaves out."""
import json
import re
import socket
from email.utils import formatdate

from cheroot.server import HTTPConnection, HTTPRequest
from cheroot.server import HeaderReader as BaseHeaderReader
from cheroot.wsgi import Server

SINGLE = {b"Host", b"Content-Length", b"Authorization"}


class Fields(dict):
    """Fields that must not be repeated."""

    def __setitem__(self, name, value):
        if name in SINGLE and name in self:
            raise ValueError("A header field is repeated")
        if name == b"Content-Length" and not value.isdigit():
            raise ValueError("Content-Length is malformed")
        super().__setitem__(name, value)


class HeaderReader(BaseHeaderReader):
    def _transform_key(self, key_name):
        if key_name != key_name.strip():
            raise ValueError("There is a blank before the colon of a header field")
        return super()._transform_key(key_name)


class Request(HTTPRequest):
    header_reader = HeaderReader()

    def __init__(self, server, conn):
        super().__init__(server, conn, proxy_mode=True)  # a target in absolute form is accepted (RFC 9112, 3.2.2)
        self.inheaders = Fields()

    def read_request_line(self):
        try:
            return super().read_request_line()
        except ValueError:
            self.simple_response("400 Bad Request", "Malformed Request-URI")
            return False

    def simple_response(self, status, msg=""):
        """What the server itself refuses is answered in the form of the API, too."""
        self.close_connection = True
        body = json.dumps({"error": "bad_request", "message": msg or str(status)}).encode()
        head = (f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nCache-Control: no-store\r\n"
                f"Date: {formatdate(usegmt=True)}\r\nConnection: close\r\n\r\n")
        try:
            self.conn.wfile.write(head.encode() + body)
        except socket.error:
            pass


class Connection(HTTPConnection):
    RequestHandlerClass = Request


def raw_path(wsgi):
    """The path as it was sent (an id may hold %2F). Methods are case-sensitive: get is not GET."""
    def run(env, start_response):
        target = re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*", "", env["REQUEST_URI"])
        env["PATH_INFO"] = target.partition("?")[0].partition("#")[0] or "/"
        if env["REQUEST_METHOD"] != env["REQUEST_METHOD"].upper():
            env["REQUEST_METHOD"] = "UNKNOWN"
        return wsgi(env, start_response)
    return run


def serve(wsgi, port):
    server = Server(("127.0.0.1", port), wsgi, numthreads=120, server_name="fjordvik", request_queue_size=128, timeout=5)
    server.max_request_body_size, server.max_request_header_size = 1 << 20, 65536
    server.ConnectionClass = Connection
    server.start()
