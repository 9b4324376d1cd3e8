#include "cli/try-service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/temporary.h"

/* Of several processes, the one that launched most is the program. */
static void keep_absence(struct cts_try_service *service, const struct cts_buffer *message)
{
    struct cts_error error;
    struct cts_trial_absence absence;
    if (cts_trial_get_absence(message, &absence, &error)) return;
    if (service->has_absence && absence.launch_count <= service->absence.launch_count) {
        cts_trial_absence_release(&absence);
        return;
    }
    if (service->has_absence) cts_trial_absence_release(&service->absence);
    service->absence = absence;
    service->has_absence = true;
}

static void serve(struct cts_try_service *service, int connection)
{
    struct cts_error error;
    struct cts_buffer message = {0};
    enum cts_trial_message kind;
    if (!cts_trial_receive(connection, &message, &kind, &error)) {
        if (kind == CTS_TRIAL_ABSENT) keep_absence(service, &message);
        if (kind == CTS_TRIAL_STRETCH && !service->has_stretch) {
            service->has_stretch = true;
            service->talk(service->state, connection, &message);
        }
    }
    cts_buffer_release(&message);
}

static void *listen_on(void *argument)
{
    struct cts_try_service *const service = argument;
    struct pollfd waits[] = {{.fd = service->listener, .events = POLLIN},
                             {.fd = service->stop_pipe[0], .events = POLLIN}};
    for (;;) {
        if (poll(waits, 2, -1) < 0 && errno != EINTR) break;
        if (waits[0].revents & POLLIN) {
            const int connection = accept4(service->listener, NULL, NULL, SOCK_CLOEXEC);
            if (connection < 0) continue;
            serve(service, connection);
            close(connection);
        } else if (waits[1].revents) {
            break;
        }
    }
    return NULL;
}

static enum cts_status open_socket(struct cts_try_service *service, struct cts_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int length = snprintf(service->folder, sizeof service->folder, "%s/ctascope-try-XXXXXX",
                                cts_temporary_directory());
    if (length < 0 || (size_t)length >= sizeof service->folder)
        return cts_fail(error, CTS_LIMIT,
                        "the path of the temporary directory '%.200s' is too long",
                        cts_temporary_directory());
    if (!mkdtemp(service->folder))
        return cts_fail_errno(error, errno, "cannot make a directory in '%s'",
                              cts_temporary_directory());
    snprintf(service->path, sizeof service->path, "%s/socket", service->folder);
    memcpy(address.sun_path, service->path, strlen(service->path));
    service->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (service->listener < 0 ||
        bind(service->listener, (const struct sockaddr *)(const void *)&address, sizeof address) ||
        listen(service->listener, 64) || pipe2(service->stop_pipe, O_CLOEXEC))
        return cts_fail_errno(error, errno, "cannot listen at '%s'", service->path);
    return CTS_OK;
}

static void close_socket(struct cts_try_service *service)
{
    if (service->listener >= 0) close(service->listener);
    for (int i = 0; i < 2; i++)
        if (service->stop_pipe[i] >= 0) close(service->stop_pipe[i]);
    if (*service->path) unlink(service->path);
    if (*service->folder) rmdir(service->folder);
}

enum cts_status cts_try_service_start(struct cts_try_service *service, struct cts_error *error)
{
    service->listener = service->stop_pipe[0] = service->stop_pipe[1] = -1;
    enum cts_status status = open_socket(service, error);
    if (!status && setenv("CTASCOPE_TRY", service->path, 1))
        status = cts_fail(error, CTS_MEMORY, "no memory");
    if (!status) {
        const int errnum = pthread_create(&service->thread, NULL, listen_on, service);
        if (errnum) status = cts_fail_errno(error, errnum, "cannot start a thread");
    }
    if (status) close_socket(service);
    return status;
}

void cts_try_service_stop(struct cts_try_service *service)
{
    (void)!write(service->stop_pipe[1], "", 1);
    pthread_join(service->thread, NULL);
    close_socket(service);
}
