# Two stages: compile with the packages of [build], run with the shared libraries only, as a user without rights.
#
#   docker build -t redquel .
#   docker run --name redquel -p 5433:5433 -v redquel:/var/lib/redquel redquel
#   docker run -p 5433:5433 redquel --redis rediss://my-redis:6379 --listen 0.0.0.0:5433

FROM debian:12-slim AS build
WORKDIR /source
COPY scripts/packages.txt scripts/install_packages scripts/
RUN scripts/install_packages build
COPY . .
RUN cmake --preset release -DREDQUEL_TESTS=OFF && cmake --build --preset release --target redquel && strip build/release/redquel

FROM debian:12-slim
COPY scripts/packages.txt scripts/install_packages /setup/scripts/
RUN /setup/scripts/install_packages run libraries && rm -rf /setup /var/lib/apt/lists/* \
 && useradd --system --uid 999 --user-group --home-dir /var/lib/redquel --create-home redquel \
 && install -d -o redquel -g redquel -m 0755 /run/redquel
COPY --from=build /source/build/release/redquel /usr/local/bin/redquel
COPY conf/redquel.toml /etc/redquel/redquel.toml
RUN sed -i '/^\[status\]/,/^listen/s/^listen = .*/listen = "127.0.0.1:9433"/' /etc/redquel/redquel.toml
USER redquel
WORKDIR /var/lib/redquel
VOLUME /var/lib/redquel
EXPOSE 5433
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=60s CMD ["redquel", "health", "--ready"]
ENTRYPOINT ["redquel"]
# On 0.0.0.0 once a role has a password or there are rules; until then on the container's own loopback and in /run/redquel.
CMD ["--embedded", "--data-dir", "/var/lib/redquel", "--listen", "0.0.0.0:5433", "--loopback-until-password"]
