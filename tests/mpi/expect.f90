! What a test program expects to be recorded of it, as expect.h says and writes it; operations by
! their numbers in OTF2.
module expectations
  implicit none
  private :: file
  integer, parameter :: barrier = 0, bcast = 1, gather = 2, allreduce = 11, create = 17, &
                        destroy = 18, create_and_allocate = 21
  character(len=*), parameter :: world = 'MPI_COMM_WORLD'
  integer :: file
contains
  subroutine expect_open(rank)
    integer, intent(in) :: rank
    character(len=4096) :: directory
    call get_environment_variable('EXPECTED', directory)
    open (newunit=file, file=trim(directory)//'/'//digits(rank)//'.txt')
  end subroutine

  subroutine expect_close()
    close (file)
  end subroutine

  pure function digits(number)
    integer, intent(in) :: number
    character(len=:), allocatable :: digits
    character(len=20) :: text
    write (text, '(i0)') number
    digits = trim(text)
  end function

  subroutine expect(line)
    character(len=*), intent(in) :: line
    write (file, '(a)') line
  end subroutine

  subroutine expect_message(kind, comm, peer, tag, bytes)
    character(len=*), intent(in) :: kind, comm
    integer, intent(in) :: peer, tag, bytes
    call expect(kind//' comm='//trim(comm)//' peer='//digits(peer)//' tag='//digits(tag)// &
                ' bytes='//digits(bytes))
  end subroutine

  subroutine expect_collective(comm, operation, root, sent, received)
    character(len=*), intent(in) :: comm
    integer, intent(in) :: operation, root, sent, received
    call expect('COLLECTIVE_END comm='//trim(comm)//' op='//digits(operation)//' root='// &
                digits(root)//' sent='//digits(sent)//' received='//digits(received))
  end subroutine

  subroutine expect_remote(kind, remote, bytes)
    character(len=*), intent(in) :: kind
    integer, intent(in) :: remote, bytes
    call expect(kind//' remote='//digits(remote)//' bytes='//digits(bytes))
  end subroutine

  ! A window that all have made, and the collective operations on it.
  subroutine expect_window(operation)
    integer, intent(in) :: operation
    call expect('WIN_CREATE')
    call expect_on_window(operation)
  end subroutine

  subroutine expect_on_window(operation)
    integer, intent(in) :: operation
    call expect('RMA_COLLECTIVE_END op='//digits(operation))
  end subroutine

  subroutine expect_window_freed()
    call expect_on_window(destroy)
    call expect('WIN_DESTROY')
  end subroutine
end module
